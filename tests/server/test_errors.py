from collections.abc import Iterator

import pytest

from engine import errors as engine
from server import errors as edge
from server.errors import ANSWERS, JobFailed, answer_for, job_outcome, loggable
from server.jobs import errors as jobs
from server.jobs.job import JobState
from storage import errors as storage

NATIVE_CODES = {
    400: {"invalid_json", "unknown_field", "invalid_field", "missing_input", "invalid_score"},
    401: {"unauthorized"},
    403: {"forbidden_origin"},
    404: {"unknown_job", "not_ready", "unknown_model", "unknown_route"},
    410: {"expired"},
    413: {"body_too_large"},
    415: {"unsupported_media"},
    421: {"forbidden_host"},
    422: {"idempotency_mismatch"},
    429: {"queue_full", "too_many_synchronous", "too_many_downloads", "too_many_streams", "too_many_uploads"},
    503: {"shutting_down", "interrupted_by_restart"},
    504: {"deadline_exceeded"},
    507: {"result_store_full", "result_too_large", "disk_full"},
    500: {"engine_error", "out_of_memory"},
}
# What HTTP itself needs beside the native API's own list.
HTTP_CODES = {
    400: {"malformed_request"},
    405: {"method_not_allowed"},
    406: {"not_acceptable"},
    409: {"cancelled"},
    412: {"precondition_failed"},
    416: {"range_not_satisfiable"},
    431: {"headers_too_large"},
    500: {"internal_error"},
}
SENTENCE = "The weights are damaged; fetch them again."
ROOTS: list[type[Exception]] = [edge.EdgeError, storage.StorageError, jobs.JobError, engine.EngineError]


def family(root: type[Exception]) -> Iterator[type[Exception]]:
    yield root
    for child in root.__subclasses__():
        yield from family(child)


def test_every_error_has_its_row() -> None:
    missing = [kind for root in ROOTS for kind in family(root) if kind not in ANSWERS]
    assert missing == []


def test_every_code_is_listed_for_its_status() -> None:
    for kind, answer in ANSWERS.items():
        codes = NATIVE_CODES.get(answer.status, set()) | HTTP_CODES.get(answer.status, set())
        assert answer.code in codes, kind


def test_each_tree_is_drawn_in_its_docstring() -> None:
    for module, root in zip((edge, storage, jobs, engine), ROOTS, strict=True):
        drawing = module.__doc__ or ""
        assert [kind.__name__ for kind in family(root) if kind.__name__ not in drawing] == []


def test_waiting_is_advised_exactly_where_it_helps() -> None:
    assert all(answer.retry == (answer.status == 429) for answer in ANSWERS.values())


def test_a_subclass_is_answered_as_its_nearest_listed_parent() -> None:
    class LateStoreFull(storage.StoreFull):
        pass

    try:
        assert answer_for(LateStoreFull(1, 1, 1, 1)).code == "result_store_full"
    finally:
        del LateStoreFull


@pytest.mark.parametrize(
    ("error", "state", "code"),
    [
        (jobs.JobCancelled(), JobState.CANCELLED, ""),
        (jobs.JobInterrupted(), JobState.FAILED, "interrupted_by_restart"),
        (storage.ResultTooLarge(1), JobState.FAILED, "result_too_large"),
        (storage.StoreFull(1, 1, 1, 1), JobState.FAILED, "result_store_full"),
        (storage.DiskFull(), JobState.FAILED, "disk_full"),
        (MemoryError(), JobState.FAILED, "out_of_memory"),
        (engine.OutOfMemory("CUDA"), JobState.FAILED, "out_of_memory"),
        (
            engine.EngineError("The model's weights are damaged; fetch them again."),
            JobState.FAILED,
            "engine_error",
        ),
        (engine.InvalidRequest("audio", "The file is damaged."), JobState.FAILED, "invalid_field"),
        (KeyError("x"), JobState.FAILED, "engine_error"),
        (SystemExit(1), JobState.FAILED, "engine_error"),
    ],
)
def test_how_a_job_ends_by_what_its_work_raised(error: BaseException, state: JobState, code: str) -> None:
    assert job_outcome(error)[:2] == (state, code)


def test_a_failed_job_tells_what_went_wrong_without_foreign_words() -> None:
    assert job_outcome(storage.DiskFull())[2] == str(storage.DiskFull())
    message = job_outcome(ValueError("secret lyrics"))[2]
    assert "secret" not in message
    assert "ValueError" in message


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (engine.CheckpointError(SENTENCE), SENTENCE),
        (engine.NumericalError(SENTENCE), SENTENCE),
        (engine.InvalidRequest("style", "secret"), ""),
        (engine.ScoreError("secret", 1, 1), ""),
        (engine.UnknownModel("secret", ()), ""),
        (ValueError("secret"), ""),
    ],
)
def test_the_log_has_sentences_that_quote_no_request(error: Exception, sentence: str) -> None:
    assert loggable(error) == sentence


@pytest.mark.parametrize(
    ("code", "status"),
    [
        ("out_of_memory", 500),
        ("engine_error", 500),
        ("invalid_field", 400),
        ("disk_full", 507),
        ("result_too_large", 507),
        ("interrupted_by_restart", 503),
        ("result_missing", 500),
    ],
)
def test_the_failure_of_a_job_has_its_code_and_the_status_of_that(code: str, status: int) -> None:
    answer = answer_for(JobFailed(code, "It failed."))
    assert (answer.status, answer.code, answer.retry) == (status, code, False)


def test_who_waited_in_vain_is_told_where_song_speech_and_transcript_will_be() -> None:
    sentence = str(edge.DeadlineExceeded("5f0c", 1_185))
    for said in (
        "within 1185 seconds",
        "song or speech at /job?id=5f0c&track=0",
        "/job?id=5f0c&subtitles=srt",
    ):
        assert said in sentence


@pytest.mark.parametrize(
    ("limit", "said"), [(1, "The only place for calls is taken;"), (2, "All 2 places for calls are")]
)
def test_one_place_is_not_told_as_many(limit: int, said: str) -> None:
    assert str(edge.TooMany("calls", limit)).startswith(said)
