"""A synchronous call makes exactly one job, however often and however badly its client asks."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from server.log_ring import LogRing
from server.parts import assemble
from server.settings import load
from tests.server.calls.caller import Client, Studio, streamed
from tests.server.maker import AUDIO, PATIENCE_SECONDS, Maker
from tests.storage.doubles import open_descriptors


@pytest.fixture
def studio(tmp_path: Path) -> Iterator[Studio]:
    parts = assemble(load({"YUE2_RESULT_DIR": str(tmp_path / "jobs")}), LogRing())
    parts.worker.start()
    before = open_descriptors()
    yield Studio(parts)
    parts.book.close()
    assert parts.worker.stop(PATIENCE_SECONDS)
    assert parts.store.audit() == []
    assert open_descriptors() <= before


@pytest.fixture
def maker() -> Maker:
    return Maker()


def test_the_answer_is_the_stored_result(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        client = Client(studio, maker)
        await studio.call(lambda: maker.hold(b"all of it"))
        assert studio.parts.limits.synchronous.held == 1
        maker.finish()
        await client.end()
        assert (client.status, client.body, client.headers["content-type"]) == (200, b"all of it", AUDIO)
        assert client.ended_properly
        assert studio.parts.limits.downloads.held == 0
        assert studio.status(client.job_id) == "done"

    studio.run(test)


def test_what_is_made_is_sent_as_it_grows(studio: Studio, maker: Maker) -> None:
    async def test() -> None:
        client = Client(studio, maker, answer=streamed)
        await studio.call(lambda: maker.offer(b"one"))
        await client.heard(b"one")
        await studio.call(lambda: maker.offer(b"two"))
        await client.heard(b"onetwo")
        assert not client.ended_properly
        maker.finish()
        await client.end()
        assert (client.body, client.ended_properly) == (b"onetwo", True)

    studio.run(test)
