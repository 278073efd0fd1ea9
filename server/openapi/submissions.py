"""The routes that take work."""

from collections.abc import Mapping
from typing import Final

from pydantic import BaseModel

from engine.request import SketchRequest, SongRequest
from engine.speech_request import SpeechRequest
from engine.transcription_request import TranscriptionRequest
from engine.vae_request import DecodeRequest
from server.openapi.atoms import IDEMPOTENCY_KEY, answer, content, fields, query, reference, refusals
from storage.entry import JSON

_FILE: Final[dict[str, JSON]] = {"type": "string", "format": "binary"}
_LATENTS: Final[dict[str, JSON]] = _FILE | {"description": "float32, little-endian, rows of 64, 25 a second."}
_CLOSED: Final[dict[str, JSON]] = {"additionalProperties": False}
_AUDIO_TYPES: Final = ("application/octet-stream", "audio/*", "application/ogg")


def submission_paths() -> dict[str, JSON]:
    """The routes that answer with a job."""
    return {
        "/synth": _synth(),
        "/plan": _generate("A score from style and lyrics.", SongRequest),
        "/sketch": _generate("An audio preview of a score.", SketchRequest),
        "/speech": _generate("Text read aloud.", SpeechRequest),
        "/transcribe": _transcribe(),
        "/vae": _vae(),
    }


def _generate(summary: str, model: type[BaseModel], beside: Mapping[str, JSON] | None = None) -> JSON:
    """A route that queues a job; `beside` is what it reads beside JSON."""
    return queueing(summary, [], content(reference(model.__name__)) | dict(beside or {}))


def queueing(summary: str, parameters: list[JSON], body: JSON) -> JSON:
    """A route that queues a job, with parameters of the query."""
    headers: dict[str, JSON] = {"Idempotent-Replay": {"schema": {"const": "true"}}}
    submission = content(reference("Submission"))
    return {
        "post": {
            "summary": summary,
            "parameters": [*parameters, IDEMPOTENCY_KEY],
            "requestBody": {"required": True, "content": body},
            "responses": {
                "200": answer("A known Idempotency-Key: the earlier job.", submission, headers),
                "202": answer("Accepted.", submission),
                **refusals(415, 422, 429, 503, 507),
            },
        }
    }


def _form(
    properties: Mapping[str, JSON], types: Mapping[str, str], optional: tuple[str, ...] = ()
) -> dict[str, JSON]:
    """A multipart form, all of whose parts are needed but the optional ones; `types` are their content types."""
    encoding: dict[str, JSON] = {name: {"contentType": kind} for name, kind in types.items()}
    schema = fields(properties, [name for name in properties if name not in optional]) | _CLOSED
    return {"multipart/form-data": {"schema": schema, "encoding": encoding}}


def _synth() -> JSON:
    parts: dict[str, JSON] = {"request": reference("SongRequest"), "latents": _LATENTS}
    form = _form(parts, {"request": "application/json", "latents": "application/octet-stream"})
    return _generate("Songs from style and lyrics, from a score, or from latents.", SongRequest, form)


def _transcribe() -> JSON:
    return queueing(
        "A recording written down, with the times of its words. Options stand in the query, or in a form's part "
        "`request` in their place.",
        _options(TranscriptionRequest),
        recordings(reference("TranscriptionRequest")),
    )


def recordings(options: JSON) -> dict[str, JSON]:
    """A recording as a bare file, or in a form with options beside it."""
    types = {"audio": "audio/*, video/*, application/octet-stream", "request": "application/json"}
    files: dict[str, JSON] = {kind: {"schema": _FILE} for kind in (*_AUDIO_TYPES, "video/*")}
    return files | _form({"audio": _FILE, "request": options}, types, optional=("request",))


def _vae() -> JSON:
    operations: dict[str, JSON] = {"enum": ["encode", "decode"]}
    what = "encode takes an audio file, decode latents; the options but model are of decode alone."
    files: dict[str, JSON] = {kind: {"schema": _FILE} for kind in _AUDIO_TYPES}
    choice: list[JSON] = [
        fields({name: schema}) | _CLOSED for name, schema in (("audio", _FILE), ("latents", _LATENTS))
    ]
    files["multipart/form-data"] = {"schema": {"oneOf": choice}}
    return queueing(
        "Audio into latents, or latents into audio, by the model's codec alone.",
        [query("op", what, operations, required=True), *_options(DecodeRequest)],
        files,
    )


def _options(shape: type[BaseModel]) -> list[JSON]:
    """The fields of a request as parameters of the query."""
    properties = shape.model_json_schema()["properties"]
    return [query(name, str(schema["description"]), schema) for name, schema in properties.items()]
