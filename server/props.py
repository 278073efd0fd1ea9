"""What `/props` says: models, the default requests, sound and limits."""

from typing import Final

from pydantic import BaseModel

from engine.catalogue import Catalogue
from engine.request import CODES_PER_SECOND, CONTEXT_TOKENS, SketchRequest, SongRequest
from engine.sketch.notes import RATE_HZ
from engine.speech_request import MOST_CHARACTERS, SpeechRequest
from engine.transcription_request import MOST_SECONDS, TranscriptionRequest
from server.limits import FOLLOWERS, MAX_BODY_BYTES, MAX_JSON_BYTES, MAX_REQUEST_PART_BYTES, MAX_WAIT_SECONDS
from server.settings import Settings
from storage.entry import JSON

_REQUESTS: Final[dict[str, type[BaseModel]]] = {
    "synth": SongRequest,
    "plan": SongRequest,
    "sketch": SketchRequest,
    "speech": SpeechRequest,
    "transcribe": TranscriptionRequest,
}


def build_props(catalogue: Catalogue, settings: Settings, version: str) -> dict[str, JSON]:
    """All that stays as it is while the server runs."""
    models: list[JSON] = list(catalogue.describe())
    default_models: dict[str, JSON] = dict(catalogue.default_ids)
    loras: list[JSON] = []
    return {
        "name": "yue2-studio",
        "version": version,
        "models": models,
        "default_model": catalogue.default_id,
        "default_models": default_models,
        "loras": loras,
        "sample_rate_hz": RATE_HZ,
        "codes_per_second": CODES_PER_SECOND,
        "context_tokens": CONTEXT_TOKENS,
        "defaults": {operation: _defaults(shape) for operation, shape in _REQUESTS.items()},
        "limits": {
            "json_body_bytes": MAX_JSON_BYTES,
            "upload_bytes": MAX_BODY_BYTES,
            "upload_request_bytes": MAX_REQUEST_PART_BYTES,
            "speech_characters": MOST_CHARACTERS,
            "transcription_seconds": MOST_SECONDS,
            "wait_seconds": MAX_WAIT_SECONDS,
            "followers": FOLLOWERS,
            "result_ttl_seconds": settings.result_ttl_seconds,
            "result_max_bytes": settings.result_max_bytes,
            "result_max_files": settings.result_max_files,
        },
    }


def _defaults(shape: type[BaseModel]) -> dict[str, JSON]:
    """Every field of a request with its default, those that no replay keeps among them."""
    unsent = shape.model_construct()
    left_out: dict[str, JSON] = {name: None for name, field in shape.model_fields.items() if field.exclude}
    return unsent.model_dump(mode="json") | left_out
