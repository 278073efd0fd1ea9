"""The shapes that routes take and send."""

from typing import Final

from pydantic import BaseModel

from engine.request import SketchRequest, SongRequest
from engine.speech_request import SpeechRequest
from engine.transcription_model import TranscriptAnswer
from engine.transcription_request import TranscriptionRequest
from server.jobs.job import JobState
from server.openapi.atoms import (
    COUNT,
    ETA_SOURCE,
    NOTES,
    NUMBER,
    REFERENCE,
    TEXT,
    fields,
    nullable,
    reference,
)
from storage.entry import JSON

# Of each request, the fields of which one must say something.
_REQUESTS: Final[tuple[tuple[type[BaseModel], tuple[str, ...]], ...]] = (
    (SongRequest, ("style", "lyrics", "abc")),
    (SketchRequest, ("style", "lyrics", "abc")),
    (SpeechRequest, ("text",)),
    (TranscriptionRequest, ()),
)


def schemas() -> dict[str, JSON]:
    """Every named shape."""
    return (
        _requests()
        | {
            "Status": {"enum": [str(state) for state in JobState]},
            "Submission": fields(
                {"id": TEXT, "status": reference("Status"), "queue_position": COUNT}
                | {"eta_seconds": nullable("number"), "eta_source": ETA_SOURCE, "notes": NOTES}
            ),
            "Job": _job(),
            "Error": fields(
                {"error": TEXT, "code": TEXT, "retry_after_seconds": NUMBER, "field": TEXT}
                | {"line": COUNT, "column": COUNT},
                required=("error", "code"),
            ),
            "McpError": _mcp_error(),
            "Snapshot": _snapshot(),
        }
        | _transcript()
    )


def _mcp_error() -> JSON:
    """JSON-RPC's error; `data` is ours where the message was not read, and otherwise what the protocol says."""
    error = fields({"code": {"type": "integer"}, "message": TEXT, "data": {}}, required=("code", "message"))
    identity: JSON = {"type": ["string", "integer", "null"]}
    return fields({"jsonrpc": {"const": "2.0"}, "id": identity, "error": error})


def _requests() -> dict[str, JSON]:
    shapes: dict[str, JSON] = {}
    for model, speaking in _REQUESTS:
        schema = model.model_json_schema(ref_template=REFERENCE)
        shapes |= schema.pop("$defs", {})
        if speaking:
            schema["anyOf"] = [_said(name) for name in speaking]
        shapes[model.__name__] = schema
    return shapes


def _said(name: str) -> dict[str, JSON]:
    """The field is there and not blank."""
    return {"required": [name], "properties": {name: {"type": "string", "pattern": "\\S"}}}


def _transcript() -> dict[str, JSON]:
    schema = TranscriptAnswer.model_json_schema(ref_template=REFERENCE, mode="serialization")
    shapes: dict[str, JSON] = schema.pop("$defs")
    return shapes | {"Transcript": schema}


def _job() -> dict[str, JSON]:
    item = fields({"content_type": TEXT, "bytes": COUNT, "seconds": nullable("number")})
    tracks = fields({"count": COUNT, "items": {"type": "array", "items": item}})
    always: dict[str, JSON] = {
        "id": TEXT,
        "status": reference("Status"),
        "operation": TEXT,
        "model": TEXT,
        "queue_position": COUNT,
        "phase": TEXT,
        "progress": {"type": "number", "minimum": 0, "maximum": 1},
        "counters": {"type": "object", "additionalProperties": {"type": "integer"}},
        "eta_seconds": nullable("number"),
        "eta_source": ETA_SOURCE,
        "created_at": NUMBER,
        "started_at": nullable("number"),
        "finished_at": nullable("number"),
        "expires_at": nullable("number"),
        "metrics": {"type": "object", "additionalProperties": NUMBER},
        "tracks": {"anyOf": [tracks, {"type": "null"}]},
        "notes": NOTES,
    }
    return fields(always | {"code": TEXT, "error": TEXT}, required=always)


def _snapshot() -> dict[str, JSON]:
    counts = ("limit", "pending", "active", "queued", "available", "retry_after_seconds")
    counters = ("rejected", "completed", "failed", "cancelled")
    sizes = ("files", "bytes", "limit_bytes", "limit_files", "max_file_bytes")
    kept = ("limit", "pending", "files", "bytes", "limit_bytes", "limit_files")
    edge = ("workers", "synchronous_limit", "synchronous_waiters", "download_limit")
    rest = ("log_stream_limit", "upload_decoder_limit", "max_upload_bytes")
    flag: dict[str, JSON] = {"type": "boolean"}
    queue: dict[str, JSON] = dict.fromkeys(counts + counters, COUNT)
    results: dict[str, JSON] = dict.fromkeys(sizes, COUNT)
    agents: dict[str, JSON] = dict.fromkeys(kept, COUNT)
    http: dict[str, JSON] = dict.fromkeys(edge + rest, COUNT)
    states: list[JSON] = ["idle", "running", "loading", "stalled"]
    worker: dict[str, JSON] = {"state": {"enum": states}, "phase": nullable("string")}
    worker["seconds_since_progress"] = nullable("number")
    return fields(
        {
            "status": {"const": "ok"},
            "queue": fields(queue | {"accepting": flag, "active_operation": nullable("string")}),
            "results": fields(
                results | {"location": {"const": "volume"}, "ttl_seconds": NUMBER, "full": flag}
            ),
            "agents": fields(agents | {"ttl_seconds": NUMBER, "full": flag}),
            "http": fields(http),
            "worker": fields(worker),
        }
    )
