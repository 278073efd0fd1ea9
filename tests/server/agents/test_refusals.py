"""What a model is told of everything that can go wrong."""

import asyncio
from collections.abc import Callable

import pytest

from engine.errors import InvalidRequest, MissingInput, NumericalError, ScoreError, UnknownField, UnknownModel
from engine.transcription.languages import language_code
from server.agents.errors import CallerGone
from server.agents.refusals import Kept, is_internal, refused
from server.errors import ANSWERS, IdempotencyMismatch, TooManyStreams, TooManyUploads
from server.jobs.errors import GroupFull, InputsFull, QueueClosed, QueueFull
from server.log_ring import request_id
from storage.errors import DiskFull, EntryExpired, NotStored, StoreFull, UnknownEntry

LYRICS = "Nobody may read this in a log"


@pytest.mark.parametrize(
    ("error", "code", "says"),
    [
        (
            QueueFull(8),
            "queue_full",
            "The queue is full (8 of 8). Wait at least 5 seconds, then call the tool again",
        ),
        (
            GroupFull(8, "agents"),
            "queue_full",
            "The queue is full for agents (8 of 8 of their jobs are unfinished).",
        ),
        (InputsFull(1), "too_many_uploads", "nothing was queued"),
        (TooManyUploads("uploads", 2), "too_many_uploads", "All 2 places for uploads are taken"),
        (TooManyStreams("requests being checked", 32), "too_many_streams", "Nothing was queued."),
        (StoreFull(128, 128, 5, 9, "wait an hour."), "result_store_full", "wait an hour. Nothing was queued"),
        (DiskFull(), "disk_full", "Tell the user"),
        (QueueClosed(), "shutting_down", "once it is back"),
        (IdempotencyMismatch(), "idempotency_mismatch", "a new idempotency_key"),
        (UnknownEntry("x"), "unknown_job", "this job_id"),
        (EntryExpired("x"), "expired", "one hour"),
        (NotStored("x", "This job is running."), "not_ready", "This job is running. Only a job"),
        (InvalidRequest("style", "style is odd."), "invalid_field", "style is odd. Correct this"),
        (UnknownField("lyric", "did you mean lyrics?"), "unknown_field", "lyrics? Correct this"),
        (MissingInput("text", "text is required; add it."), "missing_input", "text is required"),
        (ScoreError("There is no note", 3, 7), "invalid_score", "(line 3, column 7)"),
        (UnknownModel("x", ("sketch",)), "unknown_model", "list_models"),
        (MemoryError(), "out_of_memory", "not enough memory"),
        (NumericalError("It is not finite."), "engine_error", "It is not finite."),
        (CallerGone(), "caller_gone", "nothing was queued"),
        (RuntimeError(LYRICS), "internal_error", "inside the server"),
    ],
)
def test_each_error_has_its_code_and_says_what_to_do(error: Exception, code: str, says: str) -> None:
    answer = refused(error)
    assert answer.is_refused
    assert answer.told["code"] == code
    assert says in answer.sentence
    assert answer.told["message"] == answer.sentence
    assert "YUE2_" not in answer.sentence
    assert "Idempotency-Key" not in answer.sentence
    assert not answer.links
    assert not answer.texts


@pytest.mark.parametrize(
    ("error", "limit"), [(QueueFull(8), 8), (GroupFull(6), 6), (TooManyUploads("uploads", 2), 2)]
)
def test_want_of_room_tells_when_to_try_again(error: Exception, limit: int) -> None:
    answer = refused(error)
    assert answer.retry_after_seconds == answer.told["retry_after_seconds"] == 5
    assert answer.told["limit"] == limit


def test_nothing_else_is_to_be_repeated() -> None:
    answer = refused(UnknownEntry("x"))
    assert answer.retry_after_seconds is None
    assert set(answer.told) == {"code", "message"}


def test_the_argument_that_is_to_blame_is_named_with_the_place_in_it() -> None:
    assert refused(InvalidRequest("style", "No.")).told["field"] == "style"
    assert refused(UnknownModel("x", ())).told["field"] == "model"
    assert "field" not in refused(MissingInput("", "Send something.")).told
    told = refused(ScoreError("No.", 3, 7)).told
    assert (told["field"], told["line"], told["column"]) == ("abc", 3, 7)


def test_an_unexpected_error_keeps_its_words_and_tells_where_to_look() -> None:
    token = request_id.set("r-17")
    try:
        answer = refused(RuntimeError(LYRICS))
    finally:
        request_id.reset(token)
    assert LYRICS not in str(answer)
    assert "r-17" in answer.sentence
    assert is_internal(RuntimeError(LYRICS))


def test_only_the_servers_own_faults_are_internal() -> None:
    assert not is_internal(QueueFull(1))
    assert not is_internal(CallerGone())


@pytest.mark.parametrize("kind", [MemoryError, ValueError, KeyError])
def test_an_error_is_kept(kind: Callable[[], Exception]) -> None:
    error = kind()
    with Kept() as kept:
        raise error
    assert kept.error is error


def test_the_end_of_a_task_is_not_kept() -> None:
    with pytest.raises(asyncio.CancelledError), Kept() as kept:
        raise asyncio.CancelledError
    assert kept.error is None


def test_every_row_of_the_table_has_a_code() -> None:
    assert all(row.code for row in ANSWERS.values())


def test_a_full_queue_tells_how_long_the_running_job_takes_and_how_room_is_made() -> None:
    for error in (QueueFull(8), GroupFull(8, "agents")):
        answer = refused(error, 119.4)
        assert answer.sentence.endswith("The job that is being made should be done in about 120 seconds.")
        assert "wait for one of your jobs with job_status, or cancel one" in answer.sentence
        assert answer.told["message"] == answer.sentence
        assert answer.retry_after_seconds == 5
        assert "being made" not in refused(error).sentence
    assert "being made" not in refused(InputsFull(1), 119.4).sentence


@pytest.mark.parametrize("remedy", ["", "set YUE2_MODEL and YUE2_VAE to their folders"])
def test_another_model_is_for_whoever_runs_the_server(remedy: str) -> None:
    sentence = refused(UnknownModel("yue2", ("sketch",), remedy)).sentence
    assert "There is no model 'yue2' here." in sentence
    assert "whoever runs the server" in sentence
    assert "YUE2_" not in sentence


def test_another_language_is_for_whoever_runs_the_server() -> None:
    with pytest.raises(InvalidRequest) as raised:
        language_code("de", ("en",))
    answer = refused(raised.value)
    assert "choose one of: en; for other languages whoever runs the server" in answer.sentence
    assert "YUE2_" not in answer.sentence
    assert answer.told["field"] == "language"


def test_what_has_no_result_is_to_be_made_again_with_its_tool() -> None:
    sentence = refused(NotStored("x", "This job was cancelled; submit the request again.")).sentence
    assert "call the tool that began it again." in sentence
    assert "submit" not in sentence
