"""What stands behind the question mark: only what is known there, and each once."""

import re
from collections.abc import Collection
from typing import Final

from starlette.requests import Request

from engine.errors import InvalidRequest, UnknownField

_NUMBER: Final = re.compile(r"-?[0-9]{1,18}(\.[0-9]{1,18})?", re.ASCII)


def check_query(request: Request, *known: str) -> None:
    """Raise UnknownField for a parameter that is not known here, and InvalidRequest for one that stands twice."""
    names = [name for name, _ in request.query_params.multi_items()]
    for name in names:
        if name not in known:
            choices = (
                f"choose one of: {', '.join(known)}" if known else "what is asked for stands in the body"
            )
            raise UnknownField(name[:80], f"There is no parameter {name[:80]!r} here; {choices}.")
        if names.count(name) > 1:
            raise InvalidRequest(name, f"{name} stands twice in the query; send it once.")


def options_of(request: Request, known: Collection[str], numbers: Collection[str]) -> dict[str, object]:
    """The parameters as a JSON object would hold them; those of `numbers` as numbers where they are such.

    Raises as `check_query`.
    """
    check_query(request, *known)
    return {
        name: float(value) if name in numbers and _NUMBER.fullmatch(value) else value
        for name, value in request.query_params.items()
    }
