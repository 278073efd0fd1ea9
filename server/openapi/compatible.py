"""The routes of OpenAI's audio calls and of its list of models."""

from typing import Final, get_args

from server.compatible.names import VENDOR_NAMES, Kind
from server.compatible.speech import Format, SpeechCall
from server.compatible.transcription import TranscriptionCall
from server.compatible.voices import OPENAI_VOICES
from server.openapi.atoms import (
    COUNT,
    EVENTS,
    NUMBER,
    TEXT,
    answer,
    content,
    fields,
    nullable,
    reference,
    refusals,
)
from server.openapi.compatible_atoms import (
    JOB,
    NULL,
    OPENAI_ERROR,
    SAID,
    bodies,
    either,
    properties,
    shape,
    synchronous,
)
from storage.entry import JSON

_FILE: Final[dict[str, JSON]] = {"type": "string", "format": "binary"}
_TEXTS: Final = ("text/plain", "application/x-subrip", "text/vtt")
# Of a form, what may come more than once; clients write the names with brackets or without.
_LISTS: Final = ("languages", "keywords", "timestamp_granularities")
_UNSENT: Final = ("task", "include")  # what the path tells, and what no model here can be asked for
_SEGMENT_NUMBERS: Final = (
    "id",
    "seek",
    "start",
    "end",
    "temperature",
    "avg_logprob",
    "compression_ratio",
    "no_speech_prob",
)


def openai_paths() -> dict[str, JSON]:
    """The routes below `/v1/audio` and `/v1/models`."""
    name: JSON = {"name": "id", "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
    listed = fields({"object": {"const": "list"}, "data": {"type": "array", "items": reference("Model")}})
    failures = refusals(shape=OPENAI_ERROR)
    return {
        "/v1/models": {
            "get": {
                "summary": "The names of models that work here (OpenAI).",
                "responses": {"200": answer("Ours and vendors' names.", content(listed)), **failures},
            }
        },
        "/v1/models/{id}": {
            "get": {
                "summary": "One name of a model (OpenAI).",
                "parameters": [name],
                "responses": {"200": answer("It works here.", content(reference("Model"))), **failures},
            }
        },
        "/v1/audio/speech": synchronous(
            "Text read aloud, or lyrics sung (OpenAI).",
            content(reference("SpeechCall")),
            answer("Audio as it is made, or events with it.", bodies(_speech_types()) | EVENTS, JOB),
            OPENAI_ERROR,
        ),
        "/v1/audio/transcriptions": _listening("A recording written down (OpenAI).", translates=False),
        "/v1/audio/translations": _listening(
            "A recording translated into English (OpenAI).", translates=True
        ),
    }


def _listening(summary: str, *, translates: bool) -> dict[str, JSON]:
    told = properties(shape(TranscriptionCall))
    told["model"] = {"anyOf": [{"enum": [*VENDOR_NAMES[Kind.TRANSCRIPTION]]}, told["model"]]}
    left_out: dict[str, JSON] = {"type": "string", "pattern": "^\\s*$"}
    form: dict[str, JSON] = {
        name: {"anyOf": [kind, left_out]} for name, kind in told.items() if name not in (*_UNSENT, *_LISTS)
    }
    if not translates:
        granularities: JSON = {"type": "array", "items": {"enum": ["word", "segment"]}}
        lists = {name: told[name] for name in _LISTS} | {"timestamp_granularities": granularities}
        form |= {f"{name}[]": kind for name, kind in lists.items()}
    body: dict[str, JSON] = {"multipart/form-data": {"schema": fields({"file": _FILE, **form}, ("file",))}}
    answers = content(either("TranscriptionJson", "TranscriptionVerbose")) | bodies(_TEXTS) | EVENTS
    return synchronous(summary, body, answer("What was said.", answers, JOB), OPENAI_ERROR)


def _speech_types() -> list[str]:
    forms = (SpeechCall(model="x", input="x", response_format=name).form for name in get_args(Format))
    return sorted({form.content_type.partition(";")[0] for form in forms})


def openai_schemas() -> dict[str, JSON]:
    """The named shapes of these routes."""
    return {"SpeechCall": _speech_call(), OPENAI_ERROR: _error(), **_answers()}


def _speech_call() -> dict[str, JSON]:
    """Null stands for a field left out, and a voice may be told as an object."""
    told = properties(shape(SpeechCall))
    told["voice"] = {"anyOf": [{"enum": [*OPENAI_VOICES]}, TEXT, fields({"id": TEXT})]}
    optional: dict[str, JSON] = {name: {"anyOf": [kind, NULL]} for name, kind in told.items()}
    names: list[JSON] = [*VENDOR_NAMES[Kind.SPEECH]]
    optional["model"] = {"anyOf": [{"enum": names}, told["model"], NULL], "examples": names}
    needed: dict[str, JSON] = {"input": SAID | {"examples": ["Good morning."]}}
    return fields(optional | needed, needed)


def _error() -> dict[str, JSON]:
    always: dict[str, JSON] = {
        "message": TEXT,
        "type": {"enum": ["invalid_request_error", "rate_limit_error", "server_error"]},
        "param": nullable("string"),
        "code": nullable("string"),
    }
    told = fields(always | {"job_id": TEXT, "line": COUNT, "column": COUNT}, always)
    return fields({"error": told, "job_id": TEXT}, ("error",))


def _answers() -> dict[str, JSON]:
    model: dict[str, JSON] = {"id": TEXT, "object": {"const": "model"}, "created": COUNT, "owned_by": TEXT}
    usage = fields({"type": {"const": "duration"}, "seconds": NUMBER})
    segment: dict[str, JSON] = dict.fromkeys(_SEGMENT_NUMBERS, NUMBER)
    segment |= {"text": TEXT, "tokens": {"type": "array", "items": COUNT}}
    word = fields({"word": TEXT, "start": NUMBER, "end": NUMBER})
    verbose: dict[str, JSON] = {
        "task": TEXT,
        "language": TEXT,
        "duration": NUMBER,
        "text": TEXT,
        "usage": usage,
    }
    lists: dict[str, JSON] = {
        "segments": {"type": "array", "items": fields(segment)},
        "words": {"type": "array", "items": word},
    }
    languages: JSON = {"type": "array", "items": fields({"code": TEXT})}
    return {
        "Model": fields(model),
        "TranscriptionJson": fields({"text": TEXT, "languages": languages, "usage": usage}, ("text",)),
        "TranscriptionVerbose": fields(verbose | lists, verbose),
    }
