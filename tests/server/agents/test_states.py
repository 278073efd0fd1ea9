"""How jobs are told of: states, and sentences that name the next call with its arguments."""

import pytest

from server.agents.answer import Link
from server.agents.states import (
    begun_sentence,
    cancelled_sentence,
    complete_sentence,
    in_about,
    moment,
    pending_sentence,
    size_of,
    state_of,
    told_of,
    unlinked_sentence,
    unmade_sentence,
)
from storage.entry import JSON

JOB_ID = "0123456789abcdef"
NEXT = f'Call job_status with job_id "{JOB_ID}" and wait_seconds 45 until state is complete, failed or cancelled.'


def job(**changes: JSON) -> dict[str, JSON]:
    """A job as the book describes it."""
    blank: dict[str, JSON] = {
        "id": JOB_ID,
        "status": "queued",
        "operation": "synth",
        "model": "sketch",
        "queue_position": 2,
        "phase": "",
        "progress": 0.0,
        "counters": {},
        "eta_seconds": 12.3,
        "eta_source": "prior",
        "created_at": 1.0,
        "started_at": None,
        "finished_at": None,
        "expires_at": None,
        "metrics": {},
        "tracks": None,
        "notes": [],
    }
    return blank | changes


def test_states_are_the_agents_own_words() -> None:
    states = [state_of(status) for status in ("queued", "running", "done", "failed", "cancelled")]
    assert states == ["queued", "generating", "complete", "failed", "cancelled"]


def test_what_is_told_is_the_same_for_every_state_but_of_a_failure_more() -> None:
    told = told_of(job())
    assert told == {
        "job_id": JOB_ID,
        "state": "queued",
        "operation": "synth",
        "model": "sketch",
        "queue_position": 2,
        "phase": "",
        "progress": 0.0,
        "eta_seconds": 12.3,
        "notes": [],
    }
    failed = told_of(job(status="failed", code="engine_error", error="It broke."))
    assert failed.keys() - told.keys() == {"code", "error"}


def test_what_was_begun_says_what_to_call() -> None:
    sentence = begun_sentence(told_of(job(notes=["Sung with seed 3."])))
    assert NEXT in sentence
    assert "number 2 in the queue; it should be done in about 13 seconds." in sentence
    assert sentence.endswith("Sung with seed 3.")


def test_notes_are_told_once_while_a_job_is_unfinished() -> None:
    told = told_of(job(status="running", notes=["Sung with seed 3."]))
    assert "Sung with seed 3." not in pending_sentence(told)
    assert pending_sentence(told | {"replayed": True}).endswith("Sung with seed 3.")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.0, "within moments"), (0.2, "in about 1 second"), (1.1, "in about 2 seconds")],
)
def test_seconds_are_counted_as_one_counts_them(seconds: float, words: str) -> None:
    assert in_about(seconds) == words
    assert f"it should be done {words}." in pending_sentence(told_of(job(eta_seconds=seconds)))


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(3600.0, "in 60 minutes"), (119.0, "in 1 minute"), (59.0, "in less than a minute")],
)
def test_a_link_tells_how_long_it_works_also_without_a_clock(seconds: float, words: str) -> None:
    told = told_of(job(status="done")) | {"seconds": 1.0, "expires_at": "2026-01-01T00:00:00Z"}
    link = Link("http://x/artifacts/t/song.mp3", "song.mp3", "audio/mpeg", 1, "")
    assert f"until 2026-01-01T00:00:00Z ({words}): http" in complete_sentence(
        told, link, seconds, is_shown=False
    )


def test_what_waits_tells_its_place_and_what_is_made_how_far_it_is() -> None:
    waiting = pending_sentence(told_of(job()))
    assert "waits as number 2" in waiting
    assert NEXT in waiting
    made = pending_sentence(
        told_of(job(status="running", phase="rendering", progress=0.456, eta_seconds=None))
    )
    assert "is being made (rendering, 45 % done)." in made
    assert NEXT in made
    assert "(beginning, 0 % done)" in pending_sentence(told_of(job(status="running")))


def test_what_made_nothing_says_how_to_try_again() -> None:
    failed = unmade_sentence(told_of(job(status="failed", code="out_of_memory", error="Ask for less.")))
    assert "Ask for less. (code out_of_memory)" in failed
    cancelled = unmade_sentence(told_of(job(status="cancelled")))
    assert "was cancelled" in cancelled
    assert all("new idempotency_key" in sentence for sentence in (failed, cancelled))


@pytest.mark.parametrize(
    ("operation", "says"),
    [("synth", "transcribe"), ("plan", "create_song"), ("sketch", "create_song"), ("speech", "")],
)
def test_what_is_complete_tells_all_of_its_file(operation: str, says: str) -> None:
    told = told_of(job(status="done", operation=operation))
    told |= {"seconds": 61.25, "expires_at": "2026-01-01T00:00:00Z"}
    link = Link("http://x/artifacts/t/song.mp3", "song.mp3", "audio/mpeg", 1_234_567, "")
    sentence = complete_sentence(told, link, 60.0, is_shown=False)
    for part in (
        link.url,
        link.name,
        link.mime_type,
        "1.18 MiB",
        "61.2 seconds",
        "2026-01-01T00:00:00Z",
        says,
    ):
        assert part in sentence
    assert "follows" not in sentence
    assert not sentence.endswith(" ")
    assert "The whole text follows." in complete_sentence(told, link, 60.0, is_shown=True)


def test_what_no_tool_began_tells_where_it_is() -> None:
    sentence = unlinked_sentence(told_of(job(status="done")), "http://x/job?id=1&track=0")
    assert sentence.endswith("GET http://x/job?id=1&track=0")


@pytest.mark.parametrize("state", ["cancelled", "generating", "complete", "failed"])
def test_cancelling_tells_what_became_of_it(state: str) -> None:
    sentence = cancelled_sentence(JOB_ID, state)
    assert JOB_ID in sentence
    assert ("job_status" in sentence) == (state != "cancelled")


def test_times_are_whole_seconds_of_utc() -> None:
    assert moment(0.9) == "1970-01-01T00:00:00Z"
    assert moment(1_767_225_600.0) == "2026-01-01T00:00:00Z"


@pytest.mark.parametrize(
    ("count", "told"),
    [(0, "0 bytes"), (999, "999 bytes"), (1536, "1.5 KiB"), (1_048_000, "0.999 MiB"), (2 * 1024**3, "2 GiB")],
)
def test_sizes_have_the_unit_that_suits_them(count: int, told: str) -> None:
    assert size_of(count) == told
