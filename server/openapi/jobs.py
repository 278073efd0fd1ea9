"""The routes about a job."""

from typing import Final

from server.limits import MAX_WAIT_SECONDS
from server.openapi.atoms import COUNT, EVENTS, answer, content, fields, query, reference, refusals
from storage.entry import JSON

_ID: Final = query("id", "The job's id.", {"type": "string", "minLength": 1}, required=True)
_WAIT: Final[dict[str, JSON]] = {"type": "number", "minimum": 0, "maximum": MAX_WAIT_SECONDS}
_ONE: Final[dict[str, JSON]] = {"const": "1"}
_RESULT_KINDS: Final = (
    "multipart/mixed",
    "audio/mpeg",
    "audio/ogg",
    "audio/flac",
    "audio/wav",
    "text/vnd.abc",
    "text/vtt",
    "application/x-subrip",
    "application/x-ndjson",
    "application/octet-stream",
)


def job_paths() -> dict[str, JSON]:
    """The routes that read, cancel, delete and watch."""
    cancelled = answer("The state as it then is.", content(fields({"status": reference("Status")})))
    cancel = query("cancel", "1 cancels.", _ONE, required=True)
    events = answer("Events named `job`, each with the job's state.", EVENTS)
    return {
        "/job": {
            "get": _read(),
            "post": {
                "summary": "Cancel a job.",
                "parameters": [_ID, cancel],
                "responses": {"200": cancelled, **refusals(410)},
            },
            "delete": {
                "summary": "Free a finished job before its time.",
                "parameters": [_ID],
                "responses": {"204": answer("Freed."), **refusals(410)},
            },
        },
        "/job/events": {
            "get": {
                "summary": "A job's states as server-sent events.",
                "parameters": [_ID],
                "responses": {"200": events, **refusals(410, 429)},
            }
        },
    }


def _read() -> dict[str, JSON]:
    binary: dict[str, JSON] = {kind: {} for kind in _RESULT_KINDS}
    # A replay is a request, and a transcript stands for itself.
    shapes: list[JSON] = [reference(name) for name in ("Job", "SketchRequest", "SpeechRequest", "Transcript")]
    return {
        "summary": "A job's state, or its result.",
        "parameters": [
            _ID,
            query("wait", "Answer when the job has ended, or after so many seconds.", _WAIT),
            query("result", "1 gives the stored body, or the part that it is named after.", _ONE),
            query(
                "follow",
                "1 gives speech as it is made, and of a transcription each segment as a line of JSON; of a finished job all of it.",
                _ONE,
            ),
            query("track", "The audio of one track alone.", COUNT),
            query("replay", "The request that makes one track again.", COUNT),
            query("latents", "The latents of one track.", COUNT),
            query("subtitles", "A transcript as subtitles, in this format.", {"enum": ["srt", "vtt"]}),
        ],
        "responses": {
            "200": answer("The state, or the whole body or part.", content({"anyOf": shapes}) | binary),
            "206": answer("One byte range of the body or part.", binary),
            "304": answer("If-None-Match names the stored body."),
            **refusals(409, 410, 412, 416, 429, 503, 507),
        },
    }
