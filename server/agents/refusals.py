"""Errors as an agent's model is told of them: a code, and a sentence that says what to do next.

Codes, and whether the same call may succeed soon, are those of `server.errors.ANSWERS`. The sentences speak of tools and
of their arguments, and never of the HTTP API's headers, paths and settings.
"""

from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Final, Self

from engine.errors import InvalidRequest, ScoreError, UnknownModel
from engine.transcription.languages import HOW_TO_LEARN_LANGUAGES
from server.agents.answer import ToolAnswer
from server.agents.errors import CallerGone
from server.agents.states import in_about
from server.errors import INTERNAL_CODE, RETRY_AFTER_SECONDS, IdempotencyMismatch, TooMany, answer_for
from server.jobs.errors import GroupFull, InputsFull, QueueClosed, QueueFull
from server.log_ring import request_id
from storage.entry import JSON
from storage.errors import DiskFull, EntryExpired, NotStored, StoreFull, UnknownEntry

GONE_CODE: Final = "caller_gone"
_AGAIN: Final = f"Wait at least {RETRY_AFTER_SECONDS} seconds, then call the tool again; nothing was queued."
_ROOM: Final = "To make room, wait for one of your jobs with job_status, or cancel one with cancel_job."
_SETTING_UP: Final = f", or {HOW_TO_LEARN_LANGUAGES}"
_NOT_BY_AGENTS: Final = "; for other languages whoever runs the server has to give it a larger model, which nothing an agent calls can do"
_NATIVE_AGAIN: Final = "submit the request again"  # as the HTTP API's callers are told


class Kept:
    """A context that keeps an error which ends its block; what ends a task or the process goes on."""

    def __init__(self) -> None:
        self.error: Exception | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, Exception):
            return False
        self.error = error
        return True


def refused(error: Exception, running_seconds: float = 0.0) -> ToolAnswer:
    """The refusal of a call that raised this; an unexpected error's own words stay out of it.

    `running_seconds` is how long the job that is being made will still take, 0 where there is none or nobody knows.
    """
    row = answer_for(error)
    message = _message(error, row.code)
    if isinstance(error, QueueFull) and running_seconds > 0:
        message = f"{message} The job that is being made should be done {in_about(running_seconds)}."
    told: dict[str, JSON] = {
        "code": GONE_CODE if isinstance(error, CallerGone) else row.code,
        "message": message,
    }
    if row.retry:
        told["retry_after_seconds"] = RETRY_AFTER_SECONDS
    if isinstance(error, QueueFull | TooMany):
        told["limit"] = error.limit
    return ToolAnswer(
        told | _blamed(error),
        message,
        is_refused=True,
        retry_after_seconds=RETRY_AFTER_SECONDS if row.retry else None,
    )


def is_internal(error: Exception) -> bool:
    """Whether nobody but the server is to blame, so that the log has to tell of it."""
    return answer_for(error).code == INTERNAL_CODE and not isinstance(error, CallerGone)


def _blamed(error: Exception) -> dict[str, JSON]:
    """The argument that is to blame, and where in it."""
    if isinstance(error, ScoreError):
        return {"field": "abc", "line": error.line, "column": error.column}
    if isinstance(error, InvalidRequest | UnknownModel) and error.field:
        return {"field": error.field}
    return {}


def _message(error: Exception, code: str) -> str:
    for kind in type(error).__mro__:
        if kind in _WORDED:
            return _WORDED[kind](error)
    if code == INTERNAL_CODE:
        return (
            "Something went wrong inside the server; this is no fault of the arguments. Its log says what, under the request "
            f"id {request_id.get()}. Tell the user, and try the call once more later."
        )
    return str(error)


def _queue_full(error: Exception) -> str:
    limit = error.limit if isinstance(error, QueueFull) else 0
    if isinstance(error, GroupFull):
        return f"The queue is full for agents ({limit} of {limit} of their jobs are unfinished). {_AGAIN} {_ROOM}"
    return f"The queue is full ({limit} of {limit}). {_AGAIN} {_ROOM}"


def _unread(error: Exception) -> str:
    """Of what the request says; where only another server would do, in words for somebody who cannot set it up."""
    return f"{str(error).replace(_SETTING_UP, _NOT_BY_AGENTS)} Correct this and call the tool again."


def _no_model(error: Exception) -> str:
    name = error.model if isinstance(error, UnknownModel) else ""
    return (
        f"There is no model {name[:80]!r} here. list_models tells the models there are; leave model out for the default. Only "
        "whoever runs the server can add another; nothing an agent calls can do that."
    )


_WORDED: Final[Mapping[type[object], Callable[[Exception], str]]] = {
    CallerGone: str,
    MemoryError: lambda _: (
        "The server has not enough memory to answer this now; ask for less at once, or call the tool again later."
    ),
    QueueFull: _queue_full,
    InputsFull: lambda _: f"The recordings of waiting jobs take all the memory that they may. {_AGAIN}",
    QueueClosed: lambda _: (
        "The server is shutting down and nothing was queued; call the tool again once it is back."
    ),
    TooMany: lambda error: f"{error} Nothing was queued.",
    StoreFull: lambda error: f"{error} Nothing was queued; call the tool again then.",
    DiskFull: lambda _: (
        "The server's disk is full and nothing was queued. Tell the user, who has to free some space there; then call "
        "the tool again."
    ),
    IdempotencyMismatch: lambda _: (
        "This idempotency_key was used before with other arguments, so nothing was queued. Call the tool again with a new "
        "idempotency_key, or with the same arguments as then to get the earlier job."
    ),
    UnknownEntry: lambda _: (
        "No job is known under this job_id. Send the job_id exactly as the tool that began the job answered it; if the job "
        "is long over, call that tool again."
    ),
    EntryExpired: lambda _: (
        "The result of this job has expired or was deleted; what agents make is kept for one hour. If it is still wanted, "
        "have it made again, with a new idempotency_key if you send one."
    ),
    NotStored: lambda error: (
        f"{str(error).replace(_NATIVE_AGAIN, 'call the tool that began it again')} Only a job of which job_status tells that its state is complete has a result."
    ),
    ScoreError: lambda error: (
        f"The score in abc cannot be read: {error}. Correct it there and call the tool again; writing_guide with topic "
        "score describes the notation."
    ),
    UnknownModel: _no_model,
    InvalidRequest: _unread,
}
