"""Jobs that agents begin: their places, their keys, and callers who go."""

import asyncio
from contextlib import ExitStack
from typing import Final

import pytest

from server.limits import AGENT_JOBS
from storage.entry import JSON
from tests.server.agents.office import Office
from tests.server.agents.work import written
from tests.server.maker import Maker

SONG: Final[dict[str, JSON]] = {"style": "folk", "lyrics": "[Verse]\nThe river runs", "duration": 10}
TUNE: Final = "X:1\nM:4/4\nL:1/4\nQ:1/4=300\nK:C\nCDEF|\n"
CREATING: Final[dict[str, dict[str, JSON]]] = {
    "create_song": SONG,
    "plan_score": {"style": "folk", "lyrics": "[Verse]\nThe river runs"},
    "preview_score": {"abc": TUNE},
    "speak": {"text": "One two."},
}


@pytest.mark.parametrize("tool", CREATING)
def test_each_answers_at_once_with_a_handle(office: Office, tool: str) -> None:
    async def test() -> None:
        await office.held()
        answer = await office.call(tool, **CREATING[tool])
        told = answer.told
        assert (told["state"], told["queue_position"]) == ("queued", 1)
        assert {"job_id", "eta_seconds", "notes"} <= told.keys()
        assert f'job_status with job_id "{told["job_id"]}" and wait_seconds 45' in answer.sentence
        assert "replayed" not in told
        office.pause.release()
        assert (await office.ended(str(told["job_id"]))).told["state"] == "complete"

    office.run(test)


def test_a_transcript_is_made_of_an_earlier_job(office: Office) -> None:
    async def test() -> None:
        spoken = await office.made("speak", text="One two.")
        told = await office.told("transcribe", job_id=spoken.told["job_id"], title="Counting")
        done = await office.ended(str(told["job_id"]))
        assert done.told["file_name"] == "counting.txt"
        assert done.told["text"] == f"bytes: {spoken.told['size_bytes']}\n"

    office.run(test)


def test_the_ninth_unfinished_job_is_refused_once_whatever_room_the_queue_has(office: Office) -> None:
    async def test() -> None:
        held = await office.held()
        made = [await office.begun("speak", text=f"{number}.") for number in range(AGENT_JOBS - 1)]
        for number, (tool, arguments) in enumerate(CREATING.items()):
            told = await office.refused(tool, **arguments)
            assert (told["code"], told["limit"], told["retry_after_seconds"]) == ("queue_full", 8, 5)
            assert (office.pending, office.rejected) == (AGENT_JOBS, number + 1)
        assert office.parts.gate.admit(written(), "", "").queued is not None
        await office.told("cancel_job", job_id=made[-1])
        await office.told("speak", text="Last.")
        assert (await office.refused("speak", text="Too late."))["code"] == "queue_full"
        office.pause.release()
        await office.ended(held)

    office.run(test)


def test_of_many_at_one_moment_eight_are_taken(office: Office) -> None:
    async def test() -> None:
        await office.held()
        answers = await asyncio.gather(*(office.call("speak", text=f"{number}.") for number in range(20)))
        assert sum(not answer.is_refused for answer in answers) == AGENT_JOBS - 1
        assert {answer.told["code"] for answer in answers if answer.is_refused} == {"queue_full"}
        assert (office.pending, office.rejected) == (AGENT_JOBS, 20 - AGENT_JOBS + 1)

    office.run(test)


def test_the_places_of_all_are_bounded_too(office: Office) -> None:
    async def test() -> None:
        held = Maker()
        for _ in range(12):
            office.parts.gate.admit(held.prepared(), "", "")
        told = await office.refused("create_song", **SONG)
        assert (told["code"], told["limit"]) == ("queue_full", 12)
        for _ in range(12):
            held.finish()

    office.run(test)


@pytest.mark.parametrize("tool", CREATING)
def test_the_same_key_is_the_same_job_as_it_now_is(office: Office, tool: str) -> None:
    async def test() -> None:
        held = await office.held()
        arguments = CREATING[tool] | {"idempotency_key": "k-1"}
        first = await office.begun(tool, **arguments)
        again = await office.call(tool, **arguments)
        assert (again.told["job_id"], again.told["state"]) == (first, "queued")
        assert again.told["replayed"] is True
        assert "no second job" in again.sentence
        office.pause.release()
        await office.ended(held)
        await office.ended(first)
        done = await office.call(tool, **arguments)
        assert (done.told["job_id"], done.told["state"], done.told["replayed"]) == (first, "complete", True)
        assert len(done.links) == 1
        assert office.used[-1] == first
        assert office.parts.artifacts.usage().files == 2

    office.run(test)


def test_a_transcripts_key_is_known_too(office: Office) -> None:
    async def test() -> None:
        spoken = (await office.made("speak", text="One two.")).told["job_id"]
        first = await office.made("transcribe", job_id=spoken, idempotency_key="k")
        again = await office.call("transcribe", job_id=spoken, idempotency_key="k")
        assert again.told == {**first.told, "replayed": True}

    office.run(test)


def test_a_transcripts_key_is_known_when_what_it_was_made_of_is_gone(office: Office) -> None:
    async def test() -> None:
        spoken = (await office.made("speak", text="One two.")).told["job_id"]
        first = await office.made("transcribe", job_id=spoken, idempotency_key="k")
        office.parts.book.delete(str(spoken), office.visit().owner)
        again = await office.call("transcribe", job_id=spoken, idempotency_key="k")
        assert again.told == {**first.told, "replayed": True}
        other = await office.call("transcribe", job_id=spoken, idempotency_key="k", format="srt")
        assert other.told["code"] == "idempotency_mismatch"
        unkeyed = await office.call("transcribe", job_id=spoken)
        assert unkeyed.told["code"] == "expired"

    office.run(test)


def test_a_known_key_finds_its_job_also_where_there_is_no_room(office: Office) -> None:
    async def test() -> None:
        held = await office.held()
        keyed = await office.begun("speak", text="One.", idempotency_key="k")
        for number in range(AGENT_JOBS - 2):
            await office.begun("speak", text=f"{number}.")
        again = await office.told("speak", text="One.", idempotency_key="k")
        assert (again["job_id"], office.rejected) == (keyed, 0)
        office.pause.release()
        await office.ended(held)

    office.run(test)


def test_a_key_with_other_arguments_is_refused(office: Office) -> None:
    async def test() -> None:
        await office.told("speak", text="One.", idempotency_key="k")
        told = await office.refused("speak", text="Two.", idempotency_key="k")
        assert told["code"] == "idempotency_mismatch"

    office.run(test)


def test_for_a_caller_who_has_gone_nothing_is_begun(office: Office) -> None:
    async def test() -> None:
        visit = office.visit()
        visit.gone.set()
        answer = await office.desk.call("speak", {"text": "One."}, visit)
        assert answer.told["code"] == "caller_gone"
        assert (office.pending, office.rejected, office.parts.artifacts.usage().files) == (0, 0, 0)

    office.run(test)


def test_a_job_that_was_accepted_goes_on_without_its_caller(office: Office) -> None:
    async def test() -> None:
        held = await office.held()
        visit = office.visit()
        answer = await office.desk.call("speak", {"text": "One."}, visit)
        visit.gone.set()
        office.pause.release()
        await office.ended(held)
        assert (await office.ended(str(answer.told["job_id"]))).told["state"] == "complete"

    office.run(test)


@pytest.mark.parametrize("tool", CREATING)
def test_what_is_wrong_begins_nothing(office: Office, tool: str) -> None:
    async def test() -> None:
        told = await office.refused(tool, **CREATING[tool] | {"lyric": "la"})
        assert (told["code"], told["field"]) == ("unknown_field", "lyric")
        assert (await office.refused(tool, title="x" * 81))["field"] == "title"
        assert (await office.refused(tool, idempotency_key="a b"))["field"] == "idempotency_key"
        assert (await office.refused(tool))["code"] == "missing_input"
        assert office.rejected == 0

    office.run(test)


def test_a_score_that_cannot_be_read_is_refused_at_its_place(office: Office) -> None:
    async def test() -> None:
        told = await office.refused("preview_score", abc="X:1\nM:4/4\nL:1/4\nK:C\nCD%%&|\n[[[")
        assert (told["code"], told["field"]) == ("invalid_score", "abc")
        assert {"line", "column"} <= told.keys()

    office.run(test)


def test_a_transcript_needs_a_finished_job_with_audio(office: Office) -> None:
    async def test() -> None:
        held = await office.held()
        assert (await office.refused("transcribe", job_id=held))["code"] == "not_ready"
        assert (await office.refused("transcribe", job_id="0123456789abcdef"))["code"] == "unknown_job"
        office.pause.release()
        await office.ended(held)
        score = (await office.made("plan_score", style="folk", lyrics="[Verse]\nLa la")).told["job_id"]
        told = await office.refused("transcribe", job_id=score)
        assert (told["code"], told["field"]) == ("invalid_field", "job_id")
        assert (await office.refused("transcribe", job_id=held, language="xx"))["field"] == "language"
        office.parts.artifacts.delete(held)
        assert (await office.refused("transcribe", job_id=held))["code"] == "expired"

    office.run(test)


def test_a_transcript_without_a_place_for_its_recording_counts_as_refused(office: Office) -> None:
    async def test() -> None:
        spoken = (await office.made("speak", text="One two.")).told["job_id"]
        with ExitStack() as there:
            for _ in range(office.parts.limits.uploads.total):
                there.enter_context(office.parts.limits.uploads.slot())
            told = await office.refused("transcribe", job_id=spoken)
        assert (told["code"], told["retry_after_seconds"]) == ("too_many_uploads", 5)
        assert office.rejected == 1

    office.run(test)


def test_an_unfinished_job_is_not_ready_also_where_there_is_no_room(office: Office) -> None:
    async def test() -> None:
        held = await office.held()
        for number in range(AGENT_JOBS - 1):
            await office.begun("speak", text=f"{number}.")
        told = await office.refused("transcribe", job_id=held)
        assert (told["code"], office.rejected) == ("not_ready", 0)
        assert (await office.refused("speak", text="More."))["code"] == "queue_full"

    office.run(test)


def test_a_cancelled_job_is_to_be_begun_again_with_its_tool(office: Office) -> None:
    async def test() -> None:
        await office.held()
        job_id = await office.begun("speak", text="One.")
        await office.call("cancel_job", job_id=job_id)
        told = await office.refused("transcribe", job_id=job_id)
        assert told["code"] == "not_ready"
        assert "call the tool that began it again" in str(told["message"])

    office.run(test)


def test_a_full_queue_tells_how_long_the_job_in_the_making_takes(office: Office) -> None:
    async def test() -> None:
        await office.held()
        assert 0 < office.parts.board.running_seconds() <= office.parts.board.backlog_seconds()
        for number in range(AGENT_JOBS - 1):
            await office.begun("speak", text=f"{number}.")
        told = await office.refused("speak", text="More.")
        assert "The job that is being made should be done in about " in str(told["message"])

    office.run(test)


def test_nothing_that_is_being_made_takes_no_time(office: Office) -> None:
    assert office.parts.board.running_seconds() == 0
