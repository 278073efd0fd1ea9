"""Turns what pydantic found wrong with a request into one sentence that says what to change."""

import json
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from types import UnionType
from typing import Union, get_args, get_origin

from annotated_types import Ge, Gt, Le, Lt
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails

from engine.errors import InvalidRequest, MissingInput, UnknownField

RANGE_ERRORS = {"greater_than", "greater_than_equal", "less_than", "less_than_equal"}
KINDS = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "float_type": "a number",
    "finite_number": "a finite number",
    "float_parsing": "a number",
    "bool_parsing": "true or false",
    "string_type": "text",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dict_type": "a JSON object",
    "model_type": "a JSON object",
    "model_attributes_type": "a JSON object",
}
SHOWN_CHARACTERS = 40


def refusal(shape: type[BaseModel], error: ValidationError) -> InvalidRequest:
    """The error to raise for a payload that is no `shape`: an unknown field first, else the first thing wrong."""
    found = error.errors(include_url=False)
    unknown = [item for item in found if item["type"] == "extra_forbidden"]
    first = (unknown or found)[0]
    field = _path(first)
    if first["type"] == "missing_input":
        return MissingInput("", first["msg"])
    if first["type"] == "extra_forbidden":
        return UnknownField(field, _unknown_sentence(shape, first))
    if first["type"] == "missing":
        return MissingInput(field, f"{field} is required; add it.")
    return InvalidRequest(field, _sentence(shape, first, field or "The request"))


def _path(item: ErrorDetails) -> str:
    inner = item.get("ctx", {}).get("field")
    steps = [*item["loc"], *([inner] if inner else [])]
    return ".".join(printable(str(step)) for step in steps)


def _sentence(shape: type[BaseModel], item: ErrorDetails, field: str) -> str:
    kind, context, sent = item["type"], item.get("ctx", {}), shown(item["input"])
    if "sentence" in context:
        return str(context["sentence"]).replace("{field}", field).replace("{sent}", sent)
    if kind in KINDS:
        return f"{field} must be {KINDS[kind]}; you sent {sent}."
    if kind in RANGE_ERRORS:
        return f"{field} must be {_range(_field_at(shape, item['loc']), context)}; you sent {sent}."
    return _other_sentence(kind, context, field, item)


def _other_sentence(kind: str, context: Mapping[str, object], field: str, item: ErrorDetails) -> str:
    sent = shown(item["input"])
    wordings: dict[str, Callable[[], str]] = {
        "literal_error": lambda: f"{field} must be one of {_listed(context['expected'])}; you sent {sent}.",
        "string_too_long": lambda: (
            f"{field} must have at most {context['max_length']} characters; you sent {len(str(item['input']))}."
        ),
        "string_too_short": lambda: f"{field} must not be empty; fill it in or leave it out.",
        "too_long": lambda: (
            f"{field} must have at most {context['max_length']} entries; you sent {context['actual_length']}."
        ),
        "too_short": lambda: f"{field} must not be empty; fill it in or leave it out.",
        "string_unicode": lambda: (
            f"{field} must not contain half of a surrogate pair; send whole characters."
        ),
    }
    wording = wordings.get(kind)
    return wording() if wording else f"{field} cannot be read ({item['msg']}); you sent {sent}."


def _listed(expected: object) -> str:
    return str(expected).replace("'", "").replace(" or ", ", ")


def _range(field: FieldInfo | None, context: Mapping[str, object]) -> str:
    bounds = field.metadata if field else []
    low = next((_number(bound.ge) for bound in bounds if isinstance(bound, Ge)), None)
    above = next((_number(bound.gt) for bound in bounds if isinstance(bound, Gt)), None)
    high = next((_number(bound.le) for bound in bounds if isinstance(bound, Le)), None)
    below = next((_number(bound.lt) for bound in bounds if isinstance(bound, Lt)), None)
    if low and high:
        return f"between {low} and {high}"
    parts = [(low, "at least"), (above, "greater than"), (high, "at most"), (below, "less than")]
    return " and ".join(f"{words} {limit}" for limit, words in parts if limit) or f"within {dict(context)}"


def _number(limit: object) -> str:
    return "2^63" if limit == 2**63 else f"{limit}"


def _field_at(shape: type[BaseModel], location: tuple[int | str, ...]) -> FieldInfo | None:
    field: FieldInfo | None = None
    model: type[BaseModel] | None = shape
    for step in location:
        if isinstance(step, str) and model is not None and step in model.model_fields:
            field = model.model_fields[step]
            model = _model_inside(field.annotation)
    return field


def _model_inside(annotation: object) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    if get_origin(annotation) in (tuple, Union, UnionType):
        return next(filter(None, map(_model_inside, get_args(annotation))), None)
    return None


def _unknown_sentence(shape: type[BaseModel], item: ErrorDetails) -> str:
    *outer, name = item["loc"]
    holder: type[BaseModel] | None = shape
    if outer:
        field = _field_at(shape, tuple(outer))
        holder = _model_inside(field.annotation) if field else None
    known = list(holder.model_fields) if holder else []
    near = get_close_matches(printable(str(name)), known, n=1)
    advice = f"did you mean {near[0]}?" if near else f"remove it, or choose one of: {', '.join(known)}."
    return f"There is no field {_path(item)!r}; {advice}"


def shown(value: object) -> str:
    """A value as the client wrote it, in JSON, cut to a length that suits a sentence."""
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, Mapping):
        return "a JSON object"
    if isinstance(value, str):
        text = json.dumps(value[:SHOWN_CHARACTERS])
        return text[:-1] + '…"' if len(value) > SHOWN_CHARACTERS else text
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**SHOWN_CHARACTERS:
        return "a very long number"
    return json.dumps(value, default=lambda odd: f"a {type(odd).__name__}")


def printable(name: str) -> str:
    """A name as the client wrote it, cut to a length that suits a sentence, and in ASCII."""
    return name[:SHOWN_CHARACTERS].encode("ascii", "backslashreplace").decode()
