"""A job that is given up ends as if its user had cancelled it."""

import asyncio

import pytest

from server.calls.giving_up import giving_up
from server.calls.recent import RecentCalls
from server.calls.repetition import Attempt
from tests.server.calls.caller import Studio
from tests.server.maker import Maker


@pytest.fixture
def recent() -> RecentCalls:
    return RecentCalls(lambda: 0.0)


def test_a_waiting_job_is_cancelled_at_once_and_then_recorded(
    studio: Studio, maker: Maker, recent: RecentCalls, caplog: pytest.LogCaptureFixture
) -> None:
    async def test() -> None:
        gate, book = studio.parts.gate, studio.parts.book
        first = gate.admit(maker.prepared(), "", "").job_id
        job_id = gate.admit(Maker().prepared(), "", "k").job_id
        recent.remember("f", job_id, Attempt(1, is_retry=False))
        caplog.set_level("INFO")
        recording = giving_up(book, studio.parts.limits, recent)(job_id, "")
        call = recent.find("f")
        assert call is not None
        assert (call.is_given_up, gate.job_of_key("", "k")) == (True, "")
        assert not book.is_live(job_id, "")
        await recording
        assert studio.parts.store.find(job_id).detail["status"] == studio.status(job_id) == "cancelled"
        assert f"job {job_id[:6]}… was given up, since its client has gone" in caplog.text
        assert job_id not in caplog.text
        maker.finish()
        await studio.ended(first)

    studio.run(test)


def test_what_has_ended_keeps_its_key_and_its_call(studio: Studio, maker: Maker, recent: RecentCalls) -> None:
    async def test() -> None:
        job_id = studio.parts.gate.admit(maker.prepared(), "", "k").job_id
        maker.finish()
        await studio.ended(job_id)
        recent.remember("f", job_id, Attempt(1, is_retry=False))
        await giving_up(studio.parts.book, studio.parts.limits, recent)(job_id, "")
        call = recent.find("f")
        assert call is not None
        assert (call.is_given_up, studio.parts.gate.job_of_key("", "k")) == (False, job_id)
        assert studio.status(job_id) == "done"

    studio.run(test)


def test_a_job_that_nobody_knows_is_no_matter(studio: Studio, recent: RecentCalls) -> None:
    recent.remember("f", "another", Attempt(1, is_retry=False))
    give_up = giving_up(studio.parts.book, studio.parts.limits, recent)
    asyncio.run(give_up("0123456789abcdef", ""))
    call = recent.find("f")
    assert call is not None
    assert (call.job_id, call.is_given_up) == ("another", False)
