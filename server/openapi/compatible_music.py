"""The routes of ElevenLabs' music calls."""

from typing import Final

from pydantic import BaseModel

from server.compatible.music import ComposeSections, PlanSections
from server.compatible.music_formats import AUTO, FORMS
from server.compatible.music_plan import Chunk, ChunkedPlan, MusicPrompt, SongSection
from server.compatible.names import VENDOR_NAMES, Kind
from server.openapi.atoms import EVENTS, TEXT, answer, content, fields, nullable, query, reference, refusals
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

MUSIC_ERROR: Final = "MusicError"
_SONG: Final[dict[str, JSON]] = JOB | {"song-id": {"schema": TEXT, "description": "The same."}}


def music_paths() -> dict[str, JSON]:
    """The routes below `/v1/music`."""
    songs: dict[str, JSON] = {
        path: synchronous(summary, content(reference("ComposeCall")), answered, MUSIC_ERROR, [_form()])
        for path, summary, answered in (
            ("/v1/music", "A song (ElevenLabs).", _song()),
            ("/v1/music/stream", "A song (ElevenLabs).", _song()),
            (
                "/v1/music/detailed",
                "A song after its plan, words and outline (ElevenLabs).",
                answer("JSON, then audio.", {"multipart/mixed": {}}, _SONG),
            ),
            (
                "/v1/music/detailed/stream",
                "The same as events, once the song is made (ElevenLabs).",
                answer("Events.", EVENTS, _SONG),
            ),
        )
    }
    return songs | {"/v1/music/plan": {"post": _plan()}}


def music_schemas() -> dict[str, JSON]:
    """The named shapes of these routes."""
    shapes: tuple[type[BaseModel], ...] = (MusicPrompt, SongSection, ChunkedPlan, Chunk)
    plans: dict[str, JSON] = {plan.__name__: shape(plan) for plan in shapes}
    return plans | {"ComposeCall": _compose_call(), "PlanCall": _plan_call(), MUSIC_ERROR: _error()}


def _form() -> JSON:
    return query("output_format", "Codec, sample rate and bit rate.", {"enum": [AUTO, *FORMS]})


def _song() -> dict[str, JSON]:
    kinds = sorted({form.content_type.partition(";")[0] for form in FORMS.values()})
    return answer("The song.", bodies(kinds), _SONG)


def _plan() -> dict[str, JSON]:
    return {
        "summary": "A plan of a song, at once and without a job (ElevenLabs).",
        "requestBody": {"required": True, "content": content(reference("PlanCall"))},
        "responses": {
            "200": answer("The plan.", content(either("MusicPrompt", "ChunkedPlan"))),
            **refusals(415, 429, 503, shape=MUSIC_ERROR),
        },
    }


def _compose_call() -> dict[str, JSON]:
    told = properties(shape(ComposeSections)) | {"composition_plan": _either_plan()}
    told["model_id"] = {"anyOf": [{"enum": [*VENDOR_NAMES[Kind.MUSIC]]}, told["model_id"]]}
    choices: list[JSON] = [
        {"required": ["prompt"], "properties": {"prompt": SAID}},
        {"required": ["composition_plan"], "properties": {"composition_plan": {"type": "object"}}},
    ]
    return fields(told, ()) | {"anyOf": choices}


def _plan_call() -> dict[str, JSON]:
    told = properties(shape(PlanSections)) | {"source_composition_plan": _either_plan()}
    return fields(told | {"prompt": SAID}, ("prompt",))


def _either_plan() -> dict[str, JSON]:
    return {"anyOf": [reference("MusicPrompt"), reference("ChunkedPlan"), NULL]}


def _error() -> dict[str, JSON]:
    """OpenAI's, with ElevenLabs' own beside it."""
    words = ("type", "code", "status", "message", "request_id")
    detail = fields(dict.fromkeys(words, TEXT) | {"param": nullable("string")})
    return {"allOf": [reference(OPENAI_ERROR), fields({"detail": detail})]}
