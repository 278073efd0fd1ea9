"""What the server's answers mean: pure reading of statuses, headers and small JSON bodies."""

from enum import Enum, auto
from http import HTTPStatus
from typing import TypeVar

import httpx2
from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError, model_validator

from server.client.errors import BadAnswer, ClientError, JobLost, Refused

Shape = TypeVar("Shape", bound=BaseModel)


class Verdict(Enum):
    """What to do about an answer."""

    ACCEPT = auto()
    WAIT = auto()  # the server is busy and says so: wait by the refusal steps, for as long as it takes
    RECONNECT = auto()  # nobody is behind the gateway just now: as good as a broken connection
    REFUSE = auto()


class Submission(BaseModel):
    """An accepted job; `replayed` where an earlier sending of the same call had created it."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    status: str = "queued"
    queue_position: int = 0
    eta_seconds: float | None = None
    eta_source: str | None = None
    idempotency_key: str = ""
    replayed: bool = False


class JobUpdate(BaseModel):
    """One look at a job; unknown fields are ignored so that newer servers stay readable."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    status: str
    operation: str = ""
    queue_position: int = 0
    phase: str | None = None
    progress: float | None = None
    counters: dict[str, JsonValue] | None = None
    eta_seconds: float | None = None
    eta_source: str | None = None
    created_at: float | None = None
    started_at: float | None = None
    finished_at: float | None = None
    expires_at: float | None = None
    metrics: JsonValue = None
    tracks: JsonValue = None
    notes: tuple[str, ...] = ()  # sentences for whoever asked
    code: str | None = None
    error: str | None = None

    @property
    def ended(self) -> bool:
        """Whether the job will not change any more."""
        return self.status in ("done", "failed", "cancelled")


class _Complaint(BaseModel):
    """The body of every error answer; below `/v1`, where nothing of this client's lies, it has OpenAI's shape."""

    model_config = ConfigDict(extra="ignore")

    error: str = ""
    code: str = ""
    field: str | None = None
    retry_after_seconds: float = 0.0

    @model_validator(mode="before")
    @classmethod
    def _flattened(cls, body: object) -> object:
        told = body.get("error") if isinstance(body, dict) else None
        if not isinstance(told, dict):
            return body
        return {"error": told.get("message"), "code": told.get("code") or "", "field": told.get("param")}


def judge(response: httpx2.Response) -> Verdict:
    """What to do about an answer whose body has been read.

    A full queue (429) and a server that is shutting down (503) ask for patience. A full result store (507) does not:
    only freeing space, or hours, would help, and a client that waits there only hides it from the user.
    """
    if response.is_success:
        return Verdict.ACCEPT
    if response.status_code == HTTPStatus.TOO_MANY_REQUESTS:
        return Verdict.WAIT
    if response.status_code == HTTPStatus.SERVICE_UNAVAILABLE:
        return Verdict.WAIT if _complaint(response).code else Verdict.RECONNECT
    if response.status_code in (HTTPStatus.BAD_GATEWAY, HTTPStatus.GATEWAY_TIMEOUT):
        return Verdict.RECONNECT
    return Verdict.REFUSE


def retry_after(response: httpx2.Response) -> float:
    """Seconds the server asks to wait, by header or body, whichever is longer; 0 where it does not say."""
    header = response.headers.get("retry-after", "")
    return max(float(header) if header.isdecimal() else 0.0, _complaint(response).retry_after_seconds)


def reason(response: httpx2.Response) -> str:
    """The server's own sentence, or its status where it sent none."""
    return (
        _complaint(response).error or f"The server answered {response.status_code} {response.reason_phrase}."
    )


def refusal(response: httpx2.Response) -> ClientError:
    """The error that an answer stands for."""
    complaint = _complaint(response)
    if response.status_code == HTTPStatus.GONE or complaint.code == "unknown_job":
        return JobLost(reason(response))
    about_a_job = response.request.url.path.endswith("/job")
    if response.status_code == HTTPStatus.NOT_FOUND and about_a_job and not complaint.code:
        return JobLost(reason(response))
    return Refused(reason(response), complaint.code, complaint.field or "")


def read_submission(response: httpx2.Response, idempotency_key: str) -> Submission:
    """The accepted job; BadAnswer where the body is not one."""
    submission = _read(Submission, response)
    replayed = response.headers.get("idempotent-replay", "").lower() == "true"
    return submission.model_copy(update={"idempotency_key": idempotency_key, "replayed": replayed})


def read_update(response: httpx2.Response) -> JobUpdate:
    """One look at a job; BadAnswer where the body is not one."""
    return _read(JobUpdate, response)


def read_object(response: httpx2.Response) -> dict[str, JsonValue]:
    """A JSON object such as the status snapshot; BadAnswer where the body is not one."""
    return _read(_Object, response).model_dump()


class _Object(BaseModel):
    """Any JSON object, its fields as they came."""

    model_config = ConfigDict(extra="allow")


def _read(shape: type[Shape], response: httpx2.Response) -> Shape:
    try:
        return shape.model_validate_json(response.content)
    except ValidationError as error:
        address = response.request.url.copy_with(query=None)
        raise BadAnswer(f"{address} does not answer like a YuE2 Studio server; check the address.") from error


def _complaint(response: httpx2.Response) -> _Complaint:
    try:
        return _Complaint.model_validate_json(response.content)
    except ValidationError:
        return _Complaint()
