"""What `/props` says: models, the default request, sound and limits."""

from engine.catalogue import Catalogue
from engine.request import CODES_PER_SECOND, CONTEXT_TOKENS, SketchRequest, SongRequest
from engine.sketch.notes import RATE_HZ
from server.limits import MAX_BODY_BYTES, MAX_JSON_BYTES, MAX_REQUEST_PART_BYTES, MAX_WAIT_SECONDS
from server.settings import Settings
from storage.entry import JSON


def build_props(catalogue: Catalogue, settings: Settings, version: str) -> dict[str, JSON]:
    """All that stays as it is while the server runs."""
    models: list[JSON] = list(catalogue.describe())
    song, sketch = _defaults(SongRequest), _defaults(SketchRequest)
    loras: list[JSON] = []
    return {
        "name": "yue2-studio",
        "version": version,
        "models": models,
        "default_model": catalogue.default_id,
        "loras": loras,
        "sample_rate_hz": RATE_HZ,
        "codes_per_second": CODES_PER_SECOND,
        "context_tokens": CONTEXT_TOKENS,
        "defaults": {"synth": song, "plan": song, "sketch": sketch},
        "limits": {
            "json_body_bytes": MAX_JSON_BYTES,
            "upload_bytes": MAX_BODY_BYTES,
            "upload_request_bytes": MAX_REQUEST_PART_BYTES,
            "wait_seconds": MAX_WAIT_SECONDS,
            "result_ttl_seconds": settings.result_ttl_seconds,
            "result_max_bytes": settings.result_max_bytes,
            "result_max_files": settings.result_max_files,
        },
    }


def _defaults(shape: type[SongRequest]) -> dict[str, JSON]:
    """Every field of a request with its default, those that no replay keeps among them."""
    unsent = shape.model_construct()
    left_out: dict[str, JSON] = {name: None for name, field in shape.model_fields.items() if field.exclude}
    return unsent.model_dump(mode="json") | left_out
