"""What the descriptions of vendors' routes are put together of."""

from typing import Annotated

from annotated_types import Lt
from pydantic import BaseModel, BeforeValidator, Field

from server.openapi.compatible_atoms import bodies, either, properties, shape

Whole = Annotated[int, BeforeValidator(int)]


class Inner(BaseModel):
    """What lies inside."""

    count: Annotated[Whole, Field(ge=1, le=3)] | None = None


class Outer(BaseModel):
    """What lies around it."""

    inner: Inner
    below: Annotated[Whole, Lt(5)] = 0


def test_pydantics_own_words_become_those_of_json_schema() -> None:
    told = shape(Inner)
    assert properties(told)["count"] == {
        "anyOf": [{"type": "integer", "minimum": 1, "maximum": 3}, {"type": "null"}],
        "default": None,
        "title": "Count",
    }
    assert properties(shape(Outer))["below"] == {
        "type": "integer",
        "exclusiveMaximum": 5,
        "default": 0,
        "title": "Below",
    }


def test_what_lies_inside_is_named_and_described_elsewhere() -> None:
    told = shape(Outer)
    assert "$defs" not in told
    assert properties(told)["inner"] == {"$ref": "#/components/schemas/Inner"}


def test_bodies_and_choices() -> None:
    assert bodies(["audio/mpeg", "audio/ogg"]) == {"audio/mpeg": {}, "audio/ogg": {}}
    assert either("A", "B") == {
        "anyOf": [{"$ref": "#/components/schemas/A"}, {"$ref": "#/components/schemas/B"}]
    }
