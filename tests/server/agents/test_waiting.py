"""Waiting for jobs and cancelling them: what ends a wait, whose jobs they are, and that nothing is left of it."""

import asyncio
import time
from contextlib import ExitStack

import pytest

from server.agents.answer import ToolAnswer
from server.limits import WAITS
from storage.entry import JSON
from tests.clients.held import PATIENCE_SECONDS, Pause
from tests.server.agents.office import Office, turn
from tests.server.agents.work import written

LONG = 45
PROMPT_SECONDS = PATIENCE_SECONDS / 2


async def until_waiting(office: Office, number: int) -> None:
    """Return once so many wait, which is a matter of a few turns of the loop."""
    for _ in range(100):
        if office.parts.limits.waits.held == number:
            return
        await turn()
    raise AssertionError(f"{office.parts.limits.waits.held} wait, not {number}.")


def waiting(office: Office, job_id: str) -> "asyncio.Task[ToolAnswer]":
    """A wait that is longer than any test's patience."""
    return asyncio.create_task(office.call("job_status", job_id=job_id, wait_seconds=LONG))


async def soon(answer: "asyncio.Task[ToolAnswer]") -> ToolAnswer:
    """The answer, within the test's patience."""
    return await asyncio.wait_for(answer, PATIENCE_SECONDS)


def test_without_a_wait_the_answer_comes_at_once(office: Office) -> None:
    async def test() -> None:
        job_id = await office.held()
        told = await office.told("job_status", job_id=job_id)
        assert (told["job_id"], told["state"]) == (job_id, "generating")

    office.run(test)


def test_a_wait_ends_with_the_job(office: Office) -> None:
    async def test() -> None:
        job_id = await office.held()
        answer = waiting(office, job_id)
        await until_waiting(office, 1)
        office.pause.release()
        assert (await soon(answer)).told["state"] == "complete"

    office.run(test)


def test_a_wait_outlasts_changes_that_are_no_end(office: Office) -> None:
    async def test() -> None:
        job_id = await office.held()
        answer = waiting(office, job_id)
        await until_waiting(office, 1)
        office.parts.watch.notify(job_id)
        office.parts.watch.notify()
        for _ in range(5):
            await turn()
        assert not answer.done()
        office.pause.release()
        await soon(answer)

    office.run(test)


def test_an_end_between_the_look_and_the_wait_is_not_missed(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The job ends after it was described as running; the news of that came after the subscription."""

    async def test() -> None:
        job_id = await office.held()
        describe, looks = office.parts.book.describe, 0

        def ending(id: str, owner: str) -> dict[str, JSON]:
            nonlocal looks
            looks += 1
            job = describe(id, owner)
            if looks == 1:
                office.pause.release()
                while office.parts.book.is_live(id, owner):
                    continue
            return job

        monkeypatch.setattr(office.parts.book, "describe", ending)
        assert (await soon(waiting(office, job_id))).told["state"] == "complete"
        assert looks == 2

    office.run(test)


def test_a_wait_ends_with_its_time(office: Office) -> None:
    async def test() -> None:
        job_id = await office.held()
        told = await office.told("job_status", job_id=job_id, wait_seconds=0.01)
        assert told["state"] == "generating"

    office.run(test)


def test_a_wait_ends_with_the_caller(office: Office) -> None:
    async def test() -> None:
        job_id = await office.held()
        visit = office.visit()
        call = office.desk.call("job_status", {"job_id": job_id, "wait_seconds": LONG}, visit)
        answer = asyncio.create_task(call)
        await until_waiting(office, 1)
        began = time.monotonic()
        visit.gone.set()
        assert (await soon(answer)).told["state"] == "generating"
        assert time.monotonic() - began < PROMPT_SECONDS  # it is held for longer than that
        assert office.pending == 1

    office.run(test)


def test_a_wait_that_is_cancelled_leaves_nothing(office: Office) -> None:
    async def test() -> None:
        job_id = await office.held()
        before = len(asyncio.all_tasks())
        answer = waiting(office, job_id)
        await until_waiting(office, 1)
        answer.cancel()
        with pytest.raises(asyncio.CancelledError):
            await answer
        await until_waiting(office, 0)
        await turn()
        assert len(asyncio.all_tasks()) == before
        assert not office.parts.watch._waiters
        assert office.pending == 1

    office.run(test)


def test_an_ended_job_is_not_waited_for(office: Office) -> None:
    async def test() -> None:
        job_id = str((await office.made("speak", text="One.")).told["job_id"])
        assert (await soon(waiting(office, job_id))).told["state"] == "complete"

    office.run(test)


def test_where_every_place_is_taken_the_answer_comes_at_once(office: Office) -> None:
    async def test() -> None:
        job_id = await office.held()
        with ExitStack() as taken:
            for _ in range(WAITS):
                taken.enter_context(office.parts.limits.waits.slot())
            answer = await soon(waiting(office, job_id))
        assert (answer.is_refused, answer.told["state"]) == (False, "generating")

    office.run(test)


@pytest.mark.parametrize("seconds", [-1, "-1", "nan", "long", True])
def test_a_wait_beyond_its_bounds_is_refused(office: Office, seconds: JSON) -> None:
    async def test() -> None:
        told = await office.refused("job_status", job_id="0123456789abcdef", wait_seconds=seconds)
        assert (told["code"], told["field"]) == ("invalid_field", "wait_seconds")

    office.run(test)


@pytest.mark.parametrize("tool", ["job_status", "cancel_job"])
@pytest.mark.parametrize("job_id", ["0123456789abcdef", "", "../../etc/passwd", "x" * 64])
def test_an_unknown_job_is_refused(office: Office, tool: str, job_id: str) -> None:
    async def test() -> None:
        assert (await office.refused(tool, job_id=job_id))["code"] == "unknown_job"
        assert (await office.refused(tool))["field"] == "job_id"

    office.run(test)


@pytest.mark.parametrize("tool", ["job_status", "cancel_job", "transcribe"])
def test_another_keys_job_is_unknown_also_when_it_has_expired(office: Office, tool: str) -> None:
    async def test() -> None:
        job_id = str((await office.made("speak", text="One.")).told["job_id"])
        for _ in ("stored", "gone"):
            answer = await office.desk.call(tool, {"job_id": job_id}, office.visit("another"))
            assert answer.told["code"] == "unknown_job"
            if not office.parts.artifacts.usage().files:
                break
            office.parts.artifacts.delete(job_id)
        assert (await office.refused(tool, job_id=job_id))["code"] == "expired"

    office.run(test)


def test_another_keys_running_job_is_not_to_be_cancelled(office: Office) -> None:
    async def test() -> None:
        job_id = await office.held()
        answer = await office.desk.call("cancel_job", {"job_id": job_id}, office.visit("another"))
        assert answer.told["code"] == "unknown_job"
        office.pause.release()
        assert (await office.ended(job_id)).told["state"] == "complete"

    office.run(test)


def test_a_job_that_waits_is_cancelled_at_once_and_recorded(office: Office) -> None:
    async def test() -> None:
        await office.held()
        job_id = await office.begun("speak", text="One.")
        told = await office.told("cancel_job", job_id=job_id)
        assert told == {"job_id": job_id, "state": "cancelled"}
        assert office.parts.artifacts.find(job_id).detail["status"] == "cancelled"
        assert (await office.told("job_status", job_id=job_id))["state"] == "cancelled"
        assert (await office.told("cancel_job", job_id=job_id))["state"] == "cancelled"

    office.run(test)


def test_a_cancelled_job_is_recorded_also_where_the_call_is_cancelled(
    office: Office, monkeypatch: pytest.MonkeyPatch
) -> None:
    pause, record = Pause(), office.parts.book.record_cancelled

    def held(job_id: str) -> None:
        pause()
        record(job_id)

    async def test() -> None:
        await office.held()
        job_id = await office.begun("speak", text="One.")
        call = asyncio.create_task(office.call("cancel_job", job_id=job_id))
        await asyncio.get_running_loop().run_in_executor(None, pause.wait_until_reached)
        call.cancel()
        await turn()
        pause.release()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert office.parts.artifacts.find(job_id).detail["status"] == "cancelled"

    monkeypatch.setattr(office.parts.book, "record_cancelled", held)
    office.run(test)


def test_a_job_that_runs_is_asked_to_stop(office: Office) -> None:
    async def test() -> None:
        job_id = await office.held()
        answer = await office.call("cancel_job", job_id=job_id)
        assert answer.told == {"job_id": job_id, "state": "generating"}
        assert "job_status" in answer.sentence
        office.pause.release()
        assert (await office.ended(job_id)).told["state"] == "cancelled"

    office.run(test)


def test_a_job_that_ended_stays_as_it_is(office: Office) -> None:
    async def test() -> None:
        job_id = (await office.made("speak", text="One.")).told["job_id"]
        assert (await office.told("cancel_job", job_id=job_id))["state"] == "complete"
        assert (await office.told("job_status", job_id=job_id))["state"] == "complete"

    office.run(test)


def test_a_job_of_another_api_is_waited_for_and_kept(office: Office) -> None:
    async def test() -> None:
        held = await office.held()
        job_id = office.parts.gate.admit(written(), "", "").job_id
        answer = waiting(office, job_id)
        await until_waiting(office, 1)
        office.pause.release()
        assert (await soon(answer)).told["state"] == "complete"
        assert office.used == [job_id]
        await office.ended(held)

    office.run(test)
