"""What the descriptions of other vendors' routes are put together of."""

from collections.abc import Iterable, Mapping
from typing import Final

from pydantic import BaseModel

from server.envelopes import JOB_HEADER
from server.openapi.atoms import IDEMPOTENCY_KEY, REFERENCE, TEXT, reference, refusals
from storage.entry import JSON

JOB: Final[dict[str, JSON]] = {
    JOB_HEADER: {"schema": TEXT, "description": "The job that the call became."},
}
OPENAI_ERROR: Final = "OpenAiError"
SAID: Final[dict[str, JSON]] = {"type": "string", "pattern": "\\S"}
NULL: Final[dict[str, JSON]] = {"type": "null"}
_REFUSED: Final = (415, 422, 429, 503, 504, 507)
_WORDS: Final = {"ge": "minimum", "le": "maximum", "lt": "exclusiveMaximum"}


def synchronous(
    summary: str, body: JSON, answered: JSON, error: str, parameters: Iterable[JSON] = ()
) -> dict[str, JSON]:
    """A route that answers with the result itself."""
    return {
        "post": {
            "summary": summary,
            "parameters": [*parameters, IDEMPOTENCY_KEY],
            "requestBody": {"required": True, "content": body},
            "responses": {"200": answered, **refusals(*_REFUSED, shape=error)},
        }
    }


def bodies(kinds: Iterable[str]) -> dict[str, JSON]:
    """Bodies of these content types."""
    return {kind: {} for kind in kinds}


def either(*names: str) -> dict[str, JSON]:
    """One of these named shapes."""
    return {"anyOf": [reference(name) for name in names]}


def shape(model: type[BaseModel]) -> dict[str, JSON]:
    """A request's own schema, with bounds in the words of JSON Schema where pydantic leaves them in its own."""
    schema = model.model_json_schema(ref_template=REFERENCE)
    schema.pop("$defs", None)
    return _in_json_schema(schema)


def _in_json_schema(schema: Mapping[str, JSON]) -> dict[str, JSON]:
    return {_WORDS.get(name, name): _inside(value) for name, value in schema.items()}


def _inside(value: JSON) -> JSON:
    if isinstance(value, dict):
        return _in_json_schema(value)
    return [_inside(item) for item in value] if isinstance(value, list) else value


def properties(schema: Mapping[str, JSON]) -> dict[str, JSON]:
    """Those of an object's schema."""
    told = schema["properties"]
    assert isinstance(told, dict)
    return told
