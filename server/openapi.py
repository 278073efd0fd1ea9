"""The API's own description, OpenAPI 3.1, built from the request models and the error table."""

from collections.abc import Iterable, Mapping

from pydantic import BaseModel

from engine.request import SketchRequest, SongRequest
from engine.vae_request import DecodeRequest
from server.jobs.job import JobState
from server.jobs.rates import PRIOR, SOURCES
from server.limits import MAX_NOTES, MAX_WAIT_SECONDS
from storage.entry import JSON

_REF = "#/components/schemas/{model}"
_NUMBER: dict[str, JSON] = {"type": "number"}
_COUNT: dict[str, JSON] = {"type": "integer", "minimum": 0}
_TEXT: dict[str, JSON] = {"type": "string"}


def build_openapi(version: str, keyed: bool) -> dict[str, JSON]:
    """The whole document; `keyed` where requests need an API key."""
    document: dict[str, JSON] = {
        "openapi": "3.1.0",
        "info": {
            "title": "YuE2 Studio",
            "version": version,
            "description": "Songs from style and lyrics, behind a bounded queue that never loses work.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "paths": _paths(),
        "components": {"schemas": _schemas(), "securitySchemes": _SECURITY},
    }
    if keyed:
        document["security"] = [{name: []} for name in _SECURITY]
    return document


_ETA_SOURCE: dict[str, JSON] = {"enum": [*SOURCES, PRIOR, None]}
_NOTES: dict[str, JSON] = {"type": "array", "items": _TEXT, "maxItems": MAX_NOTES}
_EVENTS: dict[str, JSON] = {"text/event-stream": {}}
_SECURITY: dict[str, JSON] = {
    "bearer": {"type": "http", "scheme": "bearer"},
    "header": {"type": "apiKey", "in": "header", "name": "x-api-key"},
    "elevenlabs_header": {"type": "apiKey", "in": "header", "name": "xi-api-key"},
    "cookie": {"type": "apiKey", "in": "cookie", "name": "yue2_key"},
}


def _object(properties: Mapping[str, JSON], required: Iterable[str] | None = None) -> dict[str, JSON]:
    names: list[JSON] = list(properties if required is None else required)
    return {"type": "object", "properties": dict(properties), "required": names}


def _nullable(kind: str) -> dict[str, JSON]:
    return {"type": [kind, "null"]}


def _schema(name: str) -> dict[str, JSON]:
    return {"$ref": _REF.format(model=name)}


def _content(schema: JSON, kind: str = "application/json") -> dict[str, JSON]:
    return {kind: {"schema": schema}}


def _answer(description: str, content: JSON = None, headers: JSON = None) -> dict[str, JSON]:
    answer: dict[str, JSON] = {"description": description}
    if content is not None:
        answer["content"] = content
    if headers is not None:
        answer["headers"] = headers
    return answer


def _refusals(*statuses: int) -> dict[str, JSON]:
    """Error answers, those that any request can meet among them."""
    return {
        str(status): _answer(_REFUSALS[status], _content(_schema("Error")))
        for status in sorted({400, 401, 403, 404, 413, 421, 500, *statuses})
    }


_REFUSALS = {
    400: "The request is malformed, or a field or part is missing or out of bounds.",
    401: "No valid API key came with the request.",
    403: "The Origin is not allowed.",
    404: "No such job, result, model or route.",
    409: "The job is not in a state for this.",
    410: "The result has expired or was deleted.",
    412: "If-Match does not name the stored body.",
    413: "The body is too large.",
    415: "The body, or a part of it, is of a type that is not read here.",
    416: "The range lies outside the body.",
    421: "The Host is not allowed.",
    422: "The Idempotency-Key was used for another request.",
    429: "At capacity; wait as Retry-After says.",
    500: "The server failed; its log says more under the request id.",
    503: "The server is shutting down.",
    507: "The result volume is full.",
}


def _query(name: str, description: str, schema: JSON, *, required: bool = False) -> dict[str, JSON]:
    return {"name": name, "in": "query", "description": description, "required": required, "schema": schema}


_ID = _query("id", "The job's id.", {"type": "string", "minLength": 1}, required=True)
_IDEMPOTENCY: dict[str, JSON] = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Names one logical submission: repeated with the same body it answers the same job.",
    "schema": {"type": "string", "pattern": "^[\\x21-\\x7e]{1,255}$"},
}


def _generate(summary: str, model: type[BaseModel], content: Mapping[str, JSON] | None = None) -> JSON:
    """A route that queues a job; `content` is what it reads beside JSON."""
    return _queueing(summary, [], _content(_schema(model.__name__)) | dict(content or {}))


def _queueing(summary: str, parameters: list[JSON], content: JSON) -> JSON:
    headers: dict[str, JSON] = {"Idempotent-Replay": {"schema": {"const": "true"}}}
    return {
        "post": {
            "summary": summary,
            "parameters": [*parameters, _IDEMPOTENCY],
            "requestBody": {"required": True, "content": content},
            "responses": {
                "200": _answer(
                    "A known Idempotency-Key: the earlier job.", _content(_schema("Submission")), headers
                ),
                "202": _answer("Accepted.", _content(_schema("Submission"))),
                **_refusals(415, 422, 429, 503, 507),
            },
        }
    }


_FILE: dict[str, JSON] = {"type": "string", "format": "binary"}
_LATENTS: dict[str, JSON] = _FILE | {"description": "float32, little-endian, rows of 64, 25 a second."}


def _form(properties: Mapping[str, JSON], **types: str) -> dict[str, JSON]:
    """A multipart form, all of whose parts are needed; `types` are their content types."""
    encoding: dict[str, JSON] = {name: {"contentType": kind} for name, kind in types.items()}
    schema = _object(properties) | {"additionalProperties": False}
    return {"multipart/form-data": {"schema": schema, "encoding": encoding}}


def _synth() -> JSON:
    parts: dict[str, JSON] = {"request": _schema("SongRequest"), "latents": _LATENTS}
    form = _form(parts, request="application/json", latents="application/octet-stream")
    return _generate("Songs from style and lyrics, from a score, or from latents.", SongRequest, form)


def _vae() -> JSON:
    operations: dict[str, JSON] = {"enum": ["encode", "decode"]}
    what = "encode takes an audio file, decode latents; the options but model are of decode alone."
    options = DecodeRequest.model_json_schema()["properties"]
    kinds = ("application/octet-stream", "audio/*", "application/ogg")
    files: dict[str, JSON] = {kind: {"schema": _FILE} for kind in kinds}
    choice: list[JSON] = [
        _object({name: schema}) | {"additionalProperties": False}
        for name, schema in (("audio", _FILE), ("latents", _LATENTS))
    ]
    files["multipart/form-data"] = {"schema": {"oneOf": choice}}
    return _queueing(
        "Audio into latents, or latents into audio, by the model's codec alone.",
        [
            _query("op", what, operations, required=True),
            *(_query(name, str(schema["description"]), schema) for name, schema in options.items()),
        ],
        files,
    )


def _job_read() -> dict[str, JSON]:
    binary: dict[str, JSON] = {kind: {} for kind in _RESULT_KINDS}
    either: dict[str, JSON] = {"anyOf": [_schema("Job"), _schema("SketchRequest")]}  # the latter is a replay
    return {
        "summary": "A job's state, or its result.",
        "parameters": [
            _ID,
            _query("wait", "Answer when the job has ended, or after so many seconds.", _WAIT),
            _query("result", "1 gives the stored body.", {"const": "1"}),
            _query("track", "The audio of one track alone.", _COUNT),
            _query("replay", "The request that makes one track again.", _COUNT),
            _query("latents", "The latents of one track.", _COUNT),
        ],
        "responses": {
            "200": _answer("The state, or the whole body or part.", _content(either) | binary),
            "206": _answer("One byte range of the body or part.", binary),
            "304": _answer("If-None-Match names the stored body."),
            **_refusals(410, 412, 416, 429),
        },
    }


_WAIT: dict[str, JSON] = {"type": "number", "minimum": 0, "maximum": MAX_WAIT_SECONDS}
_RESULT_KINDS = (
    "multipart/mixed",
    "audio/mpeg",
    "audio/ogg",
    "audio/flac",
    "audio/wav",
    "text/vnd.abc",
    "application/octet-stream",
)


def _paths() -> dict[str, JSON]:
    cancelled = _answer("The state as it then is.", _content(_object({"status": _schema("Status")})))
    cancel_query = _query("cancel", "1 cancels.", {"const": "1"}, required=True)
    events = _answer("Events named `job`, each with the job's state.", _EVENTS)
    return {
        "/synth": _synth(),
        "/plan": _generate("A score from style and lyrics.", SongRequest),
        "/sketch": _generate("An audio preview of a score.", SketchRequest),
        "/vae": _vae(),
        "/job": {
            "get": _job_read(),
            "post": {
                "summary": "Cancel a job.",
                "parameters": [_ID, cancel_query],
                "responses": {"200": cancelled, **_refusals(410)},
            },
            "delete": {
                "summary": "Free a finished job before its time.",
                "parameters": [_ID],
                "responses": {"204": _answer("Freed."), **_refusals(410)},
            },
        },
        "/job/events": {
            "get": {
                "summary": "A job's states as server-sent events.",
                "parameters": [_ID],
                "responses": {"200": events, **_refusals(410, 429)},
            }
        },
        "/session": _session(),
        **_system_paths(),
    }


def _session() -> dict[str, JSON]:
    key = _content(_object({"key": _TEXT}) | {"additionalProperties": False})
    return {
        "post": {
            "summary": "Trade an API key for a cookie, for players and event streams, which send no headers.",
            "security": [],
            "requestBody": {"required": True, "content": key},
            "responses": {"204": _answer("Set-Cookie holds the cookie."), **_refusals(415)},
        },
        "delete": {"summary": "Give the cookie back.", "responses": {"204": _answer("Gone."), **_refusals()}},
    }


def _system_paths() -> dict[str, JSON]:
    snapshot = _answer("The snapshot.", _content(_schema("Snapshot")))
    return {
        path: {"get": {"summary": summary, "responses": {"200": answer, **_refusals(429)}}}
        for path, summary, answer in (
            ("/", "Where to go from here.", _answer("Addresses.", _content({"type": "object"}))),
            ("/health", "Alive; 200 while the queue is full.", snapshot),
            ("/status", "The same snapshot.", snapshot),
            ("/system/queue", "The same snapshot.", snapshot),
            ("/props", "Models, defaults and limits.", _answer("Properties.", _content({"type": "object"}))),
            (
                "/logs",
                "The log as server-sent events.",
                _answer("Lines.", _EVENTS),
            ),
            ("/metrics", "Prometheus metrics.", _answer("Exposition.", _content(_TEXT, "text/plain"))),
            ("/openapi.json", "This document.", _answer("OpenAPI 3.1.", _content({"type": "object"}))),
        )
    }


def _schemas() -> dict[str, JSON]:
    schemas: dict[str, JSON] = {}
    for model in (SongRequest, SketchRequest):
        schema = model.model_json_schema(ref_template=_REF)
        schemas |= schema.pop("$defs", {})
        schema["anyOf"] = [_said(name) for name in ("style", "lyrics", "abc")]
        schemas[model.__name__] = schema
    return schemas | {
        "Status": {"enum": [str(state) for state in JobState]},
        "Submission": _object(
            {"id": _TEXT, "status": _schema("Status"), "queue_position": _COUNT}
            | {"eta_seconds": _nullable("number"), "eta_source": _ETA_SOURCE, "notes": _NOTES}
        ),
        "Job": _job_schema(),
        "Error": _object(
            {"error": _TEXT, "code": _TEXT, "retry_after_seconds": _NUMBER, "field": _TEXT}
            | {"line": _COUNT, "column": _COUNT},
            required=("error", "code"),
        ),
        "Snapshot": _snapshot_schema(),
    }


def _said(name: str) -> dict[str, JSON]:
    """The field is there and not blank."""
    return {"required": [name], "properties": {name: {"type": "string", "pattern": "\\S"}}}


def _job_schema() -> dict[str, JSON]:
    item = _object({"content_type": _TEXT, "bytes": _COUNT, "seconds": _nullable("number")})
    tracks = _object({"count": _COUNT, "items": {"type": "array", "items": item}})
    always: dict[str, JSON] = {
        "id": _TEXT,
        "status": _schema("Status"),
        "operation": _TEXT,
        "model": _TEXT,
        "queue_position": _COUNT,
        "phase": _TEXT,
        "progress": {"type": "number", "minimum": 0, "maximum": 1},
        "counters": {"type": "object", "additionalProperties": {"type": "integer"}},
        "eta_seconds": _nullable("number"),
        "eta_source": _ETA_SOURCE,
        "created_at": _NUMBER,
        "started_at": _nullable("number"),
        "finished_at": _nullable("number"),
        "expires_at": _nullable("number"),
        "metrics": {"type": "object", "additionalProperties": _NUMBER},
        "tracks": {"anyOf": [tracks, {"type": "null"}]},
        "notes": _NOTES,
    }
    return _object(always | {"code": _TEXT, "error": _TEXT}, required=always)


def _snapshot_schema() -> dict[str, JSON]:
    counts = ("limit", "pending", "active", "queued", "available", "retry_after_seconds")
    counters = ("rejected", "completed", "failed", "cancelled")
    sizes = ("files", "bytes", "limit_bytes", "limit_files", "max_file_bytes")
    edge = ("workers", "synchronous_limit", "synchronous_waiters", "download_limit")
    rest = ("log_stream_limit", "upload_decoder_limit", "max_upload_bytes")
    flag: dict[str, JSON] = {"type": "boolean"}
    queue: dict[str, JSON] = dict.fromkeys(counts + counters, _COUNT)
    results: dict[str, JSON] = dict.fromkeys(sizes, _COUNT)
    http: dict[str, JSON] = dict.fromkeys(edge + rest, _COUNT)
    states: list[JSON] = ["idle", "running", "loading", "stalled"]
    worker: dict[str, JSON] = {"state": {"enum": states}, "phase": _nullable("string")}
    worker["seconds_since_progress"] = _nullable("number")
    return _object(
        {
            "status": {"const": "ok"},
            "queue": _object(queue | {"accepting": flag, "active_operation": _nullable("string")}),
            "results": _object(
                results | {"location": {"const": "volume"}, "ttl_seconds": _NUMBER, "full": flag}
            ),
            "http": _object(http),
            "worker": _object(worker),
        }
    )
