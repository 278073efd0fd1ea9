"""What can go wrong at the HTTP edge, and how every error of the project is answered.

EdgeError
├── SettingsError          a setting is out of bounds; the server does not start
├── InvalidJson            the body is not one JSON object, at a line and column
├── InvalidForm            the body is no multipart form that can be read
├── UnsupportedMedia       the body is of a type that the route does not read
├── InvalidMessage         the body is no message of JSON-RPC
├── NotAcceptable          the Accept header leaves out what is answered
├── BodyTooLarge           the body is over the limit
├── HeadersTooLarge        the request line and headers are over the limit
├── MalformedRequest       the bytes received are not HTTP
├── IdempotencyMismatch    the key was used before, with another request
├── Unauthorized           no valid key where one is needed
├── ForbiddenHost          the Host header names no host of ours
├── ForbiddenOrigin        a page of a foreign origin calls
├── UnknownRoute           no route of that path
├── MethodNotAllowed       the route has no such method
├── PreconditionFailed     If-Match names another version
├── RangeNotSatisfiable    the range lies outside the result
├── ClientStalled          the client stopped reading its response
├── JobFailed              the job failed whose result was to be sent as it is made
├── DeadlineExceeded       the job of a synchronous call takes longer than the call may
└── TooMany                a bound on concurrent work is reached
    ├── TooManySynchronous
    ├── TooManyDownloads
    ├── TooManyUploads
    └── TooManyStreams

`ANSWERS` is the one table from error classes, those of `storage`, `engine` and `server.jobs` too, to HTTP.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from engine import errors as engine
from server.addresses import MCP_PATH, way
from server.jobs import errors as jobs
from server.jobs.job import JobState
from storage import errors as storage

RETRY_AFTER_SECONDS: Final = 5
INTERNAL_CODE: Final = "internal_error"
OUT_OF_MEMORY_MESSAGE: Final = "There was not enough memory for this job; ask for less at once, such as a shorter song or fewer variations, or use a smaller model."

RESULTS_ADVICE: Final = (
    f"{storage.MAKING_ROOM} DELETE /job?id=ID deletes one; YUE2_RESULT_MAX_FILES and YUE2_RESULT_MAX_BYTES allow more of them, and a lower "
    "YUE2_RESULT_TTL_SECONDS keeps them for a shorter time."
)
"""How room is made in the store of the native API's results, of which storage knows nothing."""


class EdgeError(Exception):
    """Root of the errors of the HTTP edge."""


class SettingsError(EdgeError):
    """A setting is out of bounds; the message names variable, value and bounds."""


class InvalidJson(EdgeError):
    """The body is not one JSON object; `line` and `column` count from 1 where known."""

    def __init__(self, reason: str, line: int | None = None, column: int | None = None) -> None:
        place = "" if line is None else f" (line {line}, column {column})"
        super().__init__(f"The body is not a JSON object that can be read: {reason}{place}.")
        self.line = line
        self.column = column


class InvalidForm(EdgeError):
    """The body is no multipart form that can be read."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"The multipart/form-data body cannot be read: {reason}.")


class UnsupportedMedia(EdgeError):
    """The body is of a type that the route does not read."""

    def __init__(self, sent: str, wanted: str) -> None:
        super().__init__(f"The Content-Type {sent[:80]!r} is not read here; send {wanted}.")


class InvalidMessage(EdgeError):
    """The body is JSON, but no message of JSON-RPC 2.0."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"The body is no message of JSON-RPC 2.0: {reason}.")


class NotAcceptable(EdgeError):
    """The Accept header leaves out what is answered."""

    def __init__(self, accepted: str, offered: str) -> None:
        super().__init__(
            f"Accept: {accepted[:80]} leaves out {offered}, which is what is answered here; add it."
        )


class BodyTooLarge(EdgeError):
    """The body is over `limit` bytes."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"The body is larger than {limit} bytes; send less.")
        self.limit = limit


class HeadersTooLarge(EdgeError):
    """The request line and headers are over `limit` bytes."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"The request line and headers are larger than {limit} bytes; send less.")
        self.limit = limit


class MalformedRequest(EdgeError):
    """The bytes received are not HTTP."""

    def __init__(self) -> None:
        super().__init__("The request is not valid HTTP/1.1; check its request line, headers and framing.")


class IdempotencyMismatch(EdgeError):
    """The Idempotency-Key was used before, with another request."""

    def __init__(self) -> None:
        super().__init__("This Idempotency-Key was used with another request; choose a new key.")


class Unauthorized(EdgeError):
    """No valid key where one is needed: one that is none of ours, or, where `missing`, none at all."""

    def __init__(self, *, missing: bool = False) -> None:
        found = "came with the request" if missing else "that came with the request is known here"
        super().__init__(
            f"An API key is needed, and none {found}; send one that the server was given as Authorization: Bearer KEY, "
            "X-Api-Key or Xi-Api-Key; a client that takes an api_key sends it so."
        )


class ForbiddenHost(EdgeError):
    """The Host header names no host of ours."""

    def __init__(self, host: str) -> None:
        super().__init__(
            f"The host name {host[:80]!r} is not served here; use the server's address, or add it to YUE2_ALLOWED_HOSTS."
        )


class ForbiddenOrigin(EdgeError):
    """A page of a foreign origin calls."""

    def __init__(self, origin: str) -> None:
        super().__init__(
            f"Pages of {origin[:80]!r} may not use this server; add the origin to YUE2_ALLOWED_ORIGINS to let them."
        )


class UnknownRoute(EdgeError):
    """No route of that path; where the path comes near a vendor's or an agent's call the message tells the right one."""

    def __init__(self, path: str) -> None:
        super().__init__(f"There is nothing at {path[:80]!r}; {way(path)}.")


class MethodNotAllowed(EdgeError):
    """The route has no such method; `allowed` lists those it has."""

    def __init__(self, method: str, allowed: Sequence[str], path: str = "") -> None:
        self.allowed = tuple(sorted(allowed))
        here = " The Model Context Protocol is spoken here: give this address to an agent's client."
        super().__init__(
            f"{method[:20]} is not possible here; use one of: {', '.join(self.allowed)}."
            f"{here if path == MCP_PATH else ''}"
        )


class PreconditionFailed(EdgeError):
    """If-Match names another version of the result."""

    def __init__(self) -> None:
        super().__init__(
            "The result is not the version that If-Match names; fetch it again without that header."
        )


class RangeNotSatisfiable(EdgeError):
    """The range lies outside the result of `length` bytes."""

    def __init__(self, length: int) -> None:
        super().__init__(f"The result has {length} bytes and none in that range; ask for a range inside it.")
        self.length = length


class ClientStalled(EdgeError):
    """The client stopped reading its response; nothing can be answered any more."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"The client read nothing for {seconds:g} seconds; the connection was ended.")


class JobFailed(EdgeError):
    """The job failed whose result was to be sent as it is made; `code` and message are the job's own."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


class DeadlineExceeded(EdgeError):
    """The job of a synchronous call takes longer than the `seconds` that the call may; it goes on under `job_id`."""

    def __init__(self, job_id: str, seconds: float) -> None:
        super().__init__(
            f"The job was not done within {round(seconds, 2):g} seconds and goes on. Ask for its state at /job?id={job_id} and, "
            f"once it is done, for its song or speech at /job?id={job_id}&track=0, or for its transcript at "
            f"/job?id={job_id}&result=1 (subtitles at /job?id={job_id}&subtitles=srt)."
        )
        self.job_id = job_id


class TooMany(EdgeError):
    """A bound on concurrent work is reached; nothing was begun."""

    def __init__(self, what: str, limit: int) -> None:
        taken = f"All {limit} places for {what} are" if limit > 1 else f"The only place for {what} is"
        super().__init__(f"{taken} taken; wait a few seconds and try again.")
        self.limit = limit


class TooManySynchronous(TooMany):
    """Every place for synchronous requests is taken."""


class TooManyDownloads(TooMany):
    """Every place for downloads is taken."""


class TooManyUploads(TooMany):
    """Every place for uploads is taken."""


class TooManyStreams(TooMany):
    """Every place for log streams, event streams, waiting requests or those who follow a job is taken."""


@dataclass(frozen=True, slots=True)
class Answer:
    """How a class of errors is answered: HTTP status, code, whether to try again soon."""

    status: int
    code: str
    retry: bool = False


_INTERNAL: Final = Answer(500, INTERNAL_CODE)
_QUOTING: Final = (engine.InvalidRequest, engine.ScoreError, engine.UnknownModel)

ANSWERS: Final[Mapping[type[Exception], Answer]] = {
    MemoryError: Answer(500, "out_of_memory"),
    EdgeError: _INTERNAL,
    SettingsError: _INTERNAL,
    InvalidJson: Answer(400, "invalid_json"),
    InvalidForm: Answer(400, "malformed_request"),
    UnsupportedMedia: Answer(415, "unsupported_media"),
    InvalidMessage: Answer(400, "malformed_request"),
    NotAcceptable: Answer(406, "not_acceptable"),
    BodyTooLarge: Answer(413, "body_too_large"),
    HeadersTooLarge: Answer(431, "headers_too_large"),
    MalformedRequest: Answer(400, "malformed_request"),
    IdempotencyMismatch: Answer(422, "idempotency_mismatch"),
    Unauthorized: Answer(401, "unauthorized"),
    ForbiddenHost: Answer(421, "forbidden_host"),
    ForbiddenOrigin: Answer(403, "forbidden_origin"),
    UnknownRoute: Answer(404, "unknown_route"),
    MethodNotAllowed: Answer(405, "method_not_allowed"),
    PreconditionFailed: Answer(412, "precondition_failed"),
    RangeNotSatisfiable: Answer(416, "range_not_satisfiable"),
    ClientStalled: _INTERNAL,
    JobFailed: Answer(500, "engine_error"),
    DeadlineExceeded: Answer(504, "deadline_exceeded"),
    TooMany: _INTERNAL,
    TooManySynchronous: Answer(429, "too_many_synchronous", retry=True),
    TooManyDownloads: Answer(429, "too_many_downloads", retry=True),
    TooManyUploads: Answer(429, "too_many_uploads", retry=True),
    TooManyStreams: Answer(429, "too_many_streams", retry=True),
    storage.StorageError: _INTERNAL,
    storage.StoreFull: Answer(507, "result_store_full"),
    storage.ResultTooLarge: Answer(507, "result_too_large"),
    storage.DiskFull: Answer(507, "disk_full"),
    storage.UnknownEntry: Answer(404, "unknown_job"),
    storage.EntryExpired: Answer(410, "expired"),
    storage.NotStored: Answer(404, "not_ready"),
    storage.OutputLocked: _INTERNAL,
    jobs.JobError: _INTERNAL,
    jobs.QueueFull: Answer(429, "queue_full", retry=True),
    jobs.GroupFull: Answer(429, "queue_full", retry=True),
    jobs.InputsFull: Answer(429, "too_many_uploads", retry=True),
    jobs.QueueClosed: Answer(503, "shutting_down"),
    jobs.UnknownJob: Answer(404, "unknown_job"),
    jobs.JobCancelled: Answer(409, "cancelled"),
    jobs.JobInterrupted: Answer(503, jobs.INTERRUPTED_CODE),
    engine.EngineError: Answer(500, "engine_error"),
    engine.InvalidRequest: Answer(400, "invalid_field"),
    engine.UnknownField: Answer(400, "unknown_field"),
    engine.MissingInput: Answer(400, "missing_input"),
    engine.ScoreError: Answer(400, "invalid_score"),
    engine.UnknownModel: Answer(404, "unknown_model"),
    engine.OutOfMemory: Answer(500, "out_of_memory"),
    engine.CheckpointError: Answer(500, "engine_error"),
    engine.MissingExtra: Answer(500, "engine_error"),
    engine.NumericalError: Answer(500, "engine_error"),
    engine.DeviceError: Answer(500, "engine_error"),
    engine.CorruptBank: Answer(500, "engine_error"),
}


def answer_for(error: BaseException) -> Answer:
    """The row of the nearest listed class; any other error is an internal one.

    A job's failure has its own code, with the status that the code has elsewhere.
    """
    for kind in type(error).__mro__:
        if kind in ANSWERS:
            row = ANSWERS[kind]
            return _of_job(error.code, row) if isinstance(error, JobFailed) else row
    return _INTERNAL


def _of_job(code: str, row: Answer) -> Answer:
    status = next((answer.status for answer in ANSWERS.values() if answer.code == code), row.status)
    return Answer(status, code)


def job_outcome(error: BaseException) -> tuple[JobState, str, str]:
    """State, code and sentence of a job whose work raised `error`."""
    if isinstance(error, jobs.JobCancelled):
        return JobState.CANCELLED, "", ""
    if isinstance(error, MemoryError | engine.OutOfMemory):
        return JobState.FAILED, "out_of_memory", OUT_OF_MEMORY_MESSAGE
    if isinstance(error, storage.StoreFull | storage.ResultTooLarge | storage.DiskFull | jobs.JobInterrupted):
        return JobState.FAILED, answer_for(error).code, str(error)
    if isinstance(error, engine.InvalidRequest):
        return JobState.FAILED, "invalid_field", str(error)  # only what was uploaded can prove unfit so late
    if isinstance(error, engine.EngineError):
        return JobState.FAILED, "engine_error", str(error)
    if isinstance(error, OSError) and error.strerror:
        return (
            JobState.FAILED,
            "engine_error",
            f"The system refused a file ({error.strerror}); the log says where.",
        )
    kind = type(error).__name__
    return (
        JobState.FAILED,
        "engine_error",
        f"The engine failed unexpectedly ({kind}); the server's log says where.",
    )


def loggable(error: BaseException) -> str:
    """The sentence of an engine's error, where it says all there is to know; empty where it may quote a request."""
    explained = isinstance(error, engine.EngineError) and not isinstance(error, _QUOTING)
    return str(error) if explained else ""
