"""What the document is put together of."""

from collections.abc import Iterable, Mapping
from typing import Final

from server.jobs.rates import PRIOR, SOURCES
from server.limits import MAX_NOTES
from storage.entry import JSON

REFERENCE: Final = "#/components/schemas/{model}"
NUMBER: Final[dict[str, JSON]] = {"type": "number"}
COUNT: Final[dict[str, JSON]] = {"type": "integer", "minimum": 0}
TEXT: Final[dict[str, JSON]] = {"type": "string"}
ETA_SOURCE: Final[dict[str, JSON]] = {"enum": [*SOURCES, PRIOR, None]}
NOTES: Final[dict[str, JSON]] = {"type": "array", "items": TEXT, "maxItems": MAX_NOTES}
EVENTS: Final[dict[str, JSON]] = {"text/event-stream": {}}
IDEMPOTENCY_KEY: Final[dict[str, JSON]] = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Names one logical submission: repeated with the same body it answers the same job.",
    "schema": {"type": "string", "pattern": "^[\\x21-\\x7e]{1,255}$"},
}
_REFUSALS: Final = {
    400: "The request is malformed, or a field or part is missing or out of bounds.",
    401: "No valid API key came with the request.",
    403: "The Origin is not allowed.",
    404: "No such job, result, model or route.",
    406: "Accept leaves out what is answered.",
    409: "The job was cancelled.",
    410: "The result has expired or was deleted.",
    412: "If-Match does not name the stored body.",
    413: "The body is too large.",
    415: "The body, or a part of it, is of a type that is not read here.",
    416: "The range lies outside the body.",
    421: "The Host is not allowed.",
    422: "The Idempotency-Key was used for another request.",
    429: "At capacity; wait as Retry-After says.",
    500: "The server failed; its log says more under the request id.",
    503: "The server is shutting down.",
    504: "The job is not done in the time that the server, or the client, gives it; it goes on.",
    507: "The result volume is full.",
}


def fields(properties: Mapping[str, JSON], required: Iterable[str] | None = None) -> dict[str, JSON]:
    """An object with these properties, all of them required unless some are named."""
    names: list[JSON] = list(properties if required is None else required)
    return {"type": "object", "properties": dict(properties), "required": names}


def nullable(kind: str) -> dict[str, JSON]:
    """A value of that type, or null."""
    return {"type": [kind, "null"]}


def reference(name: str) -> dict[str, JSON]:
    """A schema by its name."""
    return {"$ref": REFERENCE.format(model=name)}


def content(schema: JSON, kind: str = "application/json") -> dict[str, JSON]:
    """A body of one content type."""
    return {kind: {"schema": schema}}


def answer(description: str, body: JSON = None, headers: JSON = None) -> dict[str, JSON]:
    """A response."""
    answered: dict[str, JSON] = {"description": description}
    if body is not None:
        answered["content"] = body
    if headers is not None:
        answered["headers"] = headers
    return answered


def refusals(*statuses: int, shape: str = "Error") -> dict[str, JSON]:
    """Error answers of that named shape, those that any request can meet among them."""
    return {
        str(status): answer(_REFUSALS[status], content(reference(shape)))
        for status in sorted({400, 401, 403, 404, 413, 421, 500, *statuses})
    }


def query(name: str, description: str, schema: JSON, *, required: bool = False) -> dict[str, JSON]:
    """A parameter of the query."""
    return {"name": name, "in": "query", "description": description, "required": required, "schema": schema}
