"""How an error is written down, which depends on whose API the path belongs to.

- native: `{"error": "<sentence>", "code": …}`, with `field`, `line`, `column`, `retry_after_seconds` where known
- below `/v1`: OpenAI's `{"error": {"message", "type", "param", "code"}}`, all four always there
- below `/v1/music`: ElevenLabs' `detail` beside that
- at `/mcp`: JSON-RPC's `{"jsonrpc", "id": null, "error": {"code", "message", "data"}}`, with the native facts as `data`

A client that goes astray, since its base_url is wrong, is answered as at the path that it meant.
"""

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

from starlette.types import Scope

from engine.errors import EngineError, InvalidRequest, ScoreError, UnknownModel
from server.addresses import MCP_PATH, meant_path
from server.connection import ACCEPTED_JOB
from server.errors import (
    INTERNAL_CODE,
    RETRY_AFTER_SECONDS,
    Answer,
    BodyTooLarge,
    DeadlineExceeded,
    HeadersTooLarge,
    InvalidJson,
    JobFailed,
    MalformedRequest,
    MethodNotAllowed,
    RangeNotSatisfiable,
    Unauthorized,
    answer_for,
)
from server.jobs.errors import JobError
from storage.entry import JSON
from storage.errors import StorageError

SHORT_OF_MEMORY_MESSAGE: Final = "There was not enough memory to answer this; send less, or try again later."
JOB_HEADER: Final = "X-Yue2-Job-Id"
KEEP_FROM_RETRYING: Final = {"X-Should-Retry": "false"}
_OPENAI_PREFIX: Final = "/v1"
_MUSIC_PREFIX: Final = "/v1/music"
_PARSE_ERROR, _INVALID_REQUEST, _INTERNAL_ERROR = -32700, -32600, -32603
_FINAL_STATUSES: Final = frozenset(
    {504, 507}
)  # another try would make another job, or meet the same full volume
# Vendors' clients try again after 409, which is for conflicts that pass.
_OPENAI_STATUSES: Final = {"cancelled": 400}
_OPENAI_CODES: Final = {
    "unauthorized": "invalid_api_key",
    "unknown_model": "model_not_found",
    "unknown_route": "unknown_url",
    "method_not_allowed": "method_not_supported",
    "invalid_field": "invalid_value",
    "invalid_score": "invalid_value",
    "missing_input": "missing_required_parameter",
    "unknown_field": "unknown_parameter",
    "unsupported_media": "unsupported_format",
}
_DETAIL_TYPES: Final = {
    401: "authentication_error",
    403: "authorization_error",
    404: "not_found",
    429: "rate_limit_error",
    503: "service_unavailable",
}


@dataclass(frozen=True, slots=True)
class Facts:
    """What is true of an error, however it is written down.

    `field` is what in the request is to blame, empty where nothing or everything is; `line` and `column` count from 1;
    `headers` are those that HTTP asks for beside the status.
    """

    status: int
    code: str
    message: str
    retry: bool
    field: str
    line: int | None
    column: int | None
    headers: Mapping[str, str]


def facts(error: BaseException, request_id: str = "") -> Facts:
    """What is true of an error. The words of an internal one stay in the log, where `request_id` finds them."""
    answer = answer_for(error)
    line, column = _line_and_column(error)
    return Facts(
        status=answer.status,
        code=answer.code,
        message=_sentence(error, answer, request_id),
        retry=answer.retry,
        field=_field(error),
        line=line,
        column=column,
        headers=_headers(error, answer),
    )


def _sentence(error: BaseException, answer: Answer, request_id: str) -> str:
    if isinstance(error, MemoryError):
        return SHORT_OF_MEMORY_MESSAGE
    if answer.code == INTERNAL_CODE:
        return f"Something went wrong inside the server; its log says what, under the request id {request_id or 'unknown'}."
    return str(error)


def _field(error: BaseException) -> str:
    if isinstance(error, InvalidRequest | UnknownModel):
        return error.field
    return "abc" if isinstance(error, ScoreError) else ""


def _line_and_column(error: BaseException) -> tuple[int | None, int | None]:
    """Line and column of the request's text, where known."""
    return (error.line, error.column) if isinstance(error, ScoreError | InvalidJson) else (None, None)


def _headers(error: BaseException, answer: Answer) -> dict[str, str]:
    headers: dict[str, str] = {}
    if answer.retry:
        headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
    if isinstance(error, Unauthorized):
        headers["WWW-Authenticate"] = "Bearer"
    if isinstance(error, MethodNotAllowed):
        headers["Allow"] = ", ".join(error.allowed)
    if isinstance(error, RangeNotSatisfiable):
        headers["Content-Range"] = f"bytes */{error.length}"
    if isinstance(error, BodyTooLarge | HeadersTooLarge | MalformedRequest):
        headers["Connection"] = "close"
    return headers


def error_body(
    error: BaseException, request_id: str = "", path: str = "/", job_id: str = ""
) -> tuple[int, dict[str, str], dict[str, JSON]]:
    """Status, headers and JSON of an error at a path; `job_id` is the job that the request had got by then."""
    told = facts(error, request_id)
    headers = dict(told.headers)
    path = meant_path(path) or path
    if path == MCP_PATH:
        return told.status, headers, _json_rpc(told)
    if not _is_below(path, _OPENAI_PREFIX):
        return told.status, headers, _native(told)
    status = _OPENAI_STATUSES.get(told.code, told.status)
    if status in _FINAL_STATUSES:
        headers |= KEEP_FROM_RETRYING
    job: dict[str, JSON] = {"job_id": job_id} if job_id else {}
    body: dict[str, JSON] = {"error": _openai(told, status) | job, **job}
    if _is_below(path, _MUSIC_PREFIX):
        body["detail"] = _detail(told, status, request_id)
    return status, headers, body


def error_event(error: BaseException, scope: Scope) -> dict[str, JSON]:
    """What a running event stream of OpenAI's shape ends with after an error: `{"type": "error", "error": {…}}`."""
    state = scope["state"]
    path, request_id = scope["path"], str(state.get("request_id", ""))
    _, _, body = error_body(error, request_id, path, str(state.get(ACCEPTED_JOB, "")))
    return {"type": "error", "error": body["error"]}


async def ending_with_error(
    events: AsyncGenerator[bytes, None], scope: Scope, written: Callable[[Mapping[str, JSON]], bytes]
) -> AsyncGenerator[bytes, None]:
    """The events, closed at the end. Where their job fails after the first of them, a last one tells of it.

    Before that the error is raised: its status can still tell. `written` makes an event of JSON.
    """
    is_open = False
    try:
        async with aclosing(events):
            async for event in events:
                is_open = True
                yield event
    except (JobFailed, DeadlineExceeded, EngineError, JobError, StorageError) as error:
        if not is_open:
            raise
        yield written(error_event(error, scope))


def _is_below(path: str, prefix: str) -> bool:
    return path == prefix or path.startswith(f"{prefix}/")


def _native(told: Facts) -> dict[str, JSON]:
    body: dict[str, JSON] = {"error": told.message, "code": told.code}
    if told.retry:
        body["retry_after_seconds"] = RETRY_AFTER_SECONDS
    if told.field:
        body["field"] = told.field
    return body | _place(told)


def _json_rpc(told: Facts) -> dict[str, JSON]:
    """JSON-RPC's object, of a message that was not read so far as to know its id.

    Clients tell their models the message, whatever the HTTP status, and may look for the code in `data`.
    """
    native = _native(told)
    named: dict[str, JSON] = {"code": _json_rpc_code(told), "message": native.pop("error"), "data": native}
    return {"jsonrpc": "2.0", "id": None, "error": named}


def _json_rpc_code(told: Facts) -> int:
    if told.code == "invalid_json":
        return _PARSE_ERROR
    return _INTERNAL_ERROR if told.status >= 500 else _INVALID_REQUEST


def _openai(told: Facts, status: int) -> dict[str, JSON]:
    """OpenAI's object, with line and column where known."""
    named: dict[str, JSON] = {
        "message": told.message,
        "type": _openai_type(status),
        "param": told.field or None,
        "code": _code(told),
    }
    return named | _place(told)


def _openai_type(status: int) -> str:
    if status == 429:
        return "rate_limit_error"
    return "server_error" if status >= 500 else "invalid_request_error"


def _detail(told: Facts, status: int, request_id: str) -> dict[str, JSON]:
    """ElevenLabs' object; its `status` is a word, which older clients read as the code."""
    code = _code(told)
    other = "internal_error" if status >= 500 else "validation_error"
    return {
        "type": _DETAIL_TYPES.get(status, other),
        "code": code,
        "status": code,
        "message": told.message,
        "request_id": request_id,
        "param": told.field or None,
    }


def _code(told: Facts) -> str:
    return _OPENAI_CODES.get(told.code, told.code)


def _place(told: Facts) -> dict[str, JSON]:
    return {} if told.line is None else {"line": told.line, "column": told.column}
