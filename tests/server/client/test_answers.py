"""What statuses and bodies mean."""

import httpx2
import pytest

from server.client.answers import (
    Verdict,
    judge,
    read_object,
    read_submission,
    read_update,
    reason,
    refusal,
    retry_after,
)
from server.client.errors import BadAnswer, ClientError, JobLost, Refused


def answer(
    status: int, body: object = None, headers: dict[str, str] | None = None, path: str = "/synth"
) -> httpx2.Response:
    request = httpx2.Request("POST", f"http://studio.test{path}")
    return httpx2.Response(status, json=body, headers=headers, request=request)


@pytest.mark.parametrize(
    ("status", "code", "verdict"),
    [
        (200, "", Verdict.ACCEPT),
        (202, "", Verdict.ACCEPT),
        (429, "queue_full", Verdict.WAIT),
        (429, "", Verdict.WAIT),
        (503, "shutting_down", Verdict.WAIT),
        (503, "", Verdict.RECONNECT),
        (502, "", Verdict.RECONNECT),
        (504, "", Verdict.RECONNECT),
        (507, "result_store_full", Verdict.REFUSE),
        (400, "invalid_field", Verdict.REFUSE),
        (500, "", Verdict.REFUSE),
        (302, "", Verdict.REFUSE),
    ],
)
def test_a_status_says_whether_to_wait(status: int, code: str, verdict: Verdict) -> None:
    assert judge(answer(status, {"error": "No.", "code": code})) is verdict


def test_the_longer_of_header_and_body_is_the_time_to_wait() -> None:
    assert retry_after(answer(429, {"retry_after_seconds": 7}, {"Retry-After": "5"})) == 7
    assert retry_after(answer(429, {}, {"Retry-After": "9"})) == 9
    assert retry_after(answer(429, {}, {"Retry-After": "Fri, 31 Dec 1999 23:59:59 GMT"})) == 0


def test_a_reason_is_the_servers_sentence_or_its_status() -> None:
    assert reason(answer(429, {"error": "The queue is full.", "code": "queue_full"})) == "The queue is full."
    assert reason(answer(502, ["not", "an", "object"])) == "The server answered 502 Bad Gateway."


@pytest.mark.parametrize("path", ["/v1/health", "/v1/job"])
def test_what_is_refused_in_openais_shape_is_told_too(path: str) -> None:
    told = {
        "message": "Leave /v1 out.",
        "type": "invalid_request_error",
        "param": None,
        "code": "unknown_url",
    }
    error = refusal(answer(404, {"error": told}, path=path))
    assert isinstance(error, Refused)
    assert (str(error), error.code, error.field) == ("Leave /v1 out.", "unknown_url", "")
    assert reason(answer(404, {"error": {"message": 3}})) == "The server answered 404 Not Found."


def test_a_refusal_keeps_code_and_field() -> None:
    error = refusal(
        answer(400, {"error": "steps is at most 100.", "code": "invalid_field", "field": "steps"})
    )
    assert isinstance(error, Refused)
    assert (str(error), error.code, error.field) == ("steps is at most 100.", "invalid_field", "steps")


@pytest.mark.parametrize(
    ("status", "code", "path", "kind"),
    [
        (410, "expired", "/job", JobLost),
        (404, "unknown_job", "/job", JobLost),
        (404, "", "/job", JobLost),
        (404, "not_ready", "/job", Refused),
        (404, "unknown_model", "/synth", Refused),
        (404, "", "/synth", Refused),
    ],
)
def test_a_missing_job_is_lost_and_anything_else_refused(
    status: int, code: str, path: str, kind: type[ClientError]
) -> None:
    assert type(refusal(answer(status, {"error": "No.", "code": code}, path=path))) is kind


def test_a_submission_knows_its_key_and_whether_it_was_a_replay() -> None:
    body = {"id": "0011223344556677", "status": "queued", "queue_position": 3, "eta_seconds": 12.5, "new": 1}
    submission = read_submission(answer(200, body, {"Idempotent-Replay": "true"}), "key-1")
    assert (submission.id, submission.queue_position, submission.eta_seconds) == ("0011223344556677", 3, 12.5)
    assert (submission.idempotency_key, submission.replayed) == ("key-1", True)


def test_an_update_of_an_older_server_is_readable() -> None:
    update = read_update(answer(200, {"status": "running"}))
    assert (update.status, update.progress, update.ended) == ("running", None, False)


def test_an_object_keeps_its_fields_as_they_came() -> None:
    assert read_object(answer(200, {"status": "ok", "queue": {"limit": 8}})) == {
        "status": "ok",
        "queue": {"limit": 8},
    }


def test_a_page_that_is_no_answer_is_told_so() -> None:
    request = httpx2.Request("POST", "http://studio.test/synth?secret=1")
    with pytest.raises(BadAnswer, match=r"http://studio.test/synth does not answer like") as told:
        read_submission(httpx2.Response(200, text="<html>", request=request), "key-1")
    assert "secret" not in str(told.value)
