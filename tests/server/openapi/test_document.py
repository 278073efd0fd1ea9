"""The API's own description."""

import json
from pathlib import Path
from typing import Any

from starlette.routing import Route

from engine.catalogue import Catalogue
from server.log_ring import LogRing
from server.openapi import build_openapi
from server.parts import assemble
from server.serve import product_routes
from server.settings import load
from server.uploads import AUDIO_PART


def test_every_route_and_method_is_described_and_nothing_else(tmp_path: Path) -> None:
    parts = assemble(load({"YUE2_RESULT_DIR": str(tmp_path / "jobs")}), LogRing())
    served = {
        (route.path.replace(":path}", "}"), method.lower())
        for route in product_routes(parts, Catalogue())
        if isinstance(route, Route)
        for method in (route.methods or set()) - {"HEAD"}
    }
    paths = build_openapi("1", keyed=False)["paths"]
    assert isinstance(paths, dict)
    described = {(path, method) for path, item in paths.items() if isinstance(item, dict) for method in item}
    assert described == served


def test_every_reference_leads_somewhere() -> None:
    document = build_openapi("1", keyed=True)
    components = document["components"]
    assert isinstance(components, dict)
    schemas = components["schemas"]
    assert isinstance(schemas, dict)
    names = {reference.removeprefix("#/components/schemas/") for reference in _references(document)}
    assert names
    assert names <= set(schemas)


def test_keys_are_asked_for_only_where_there_are_any() -> None:
    assert "security" in build_openapi("1", keyed=True)
    assert "security" not in build_openapi("1", keyed=False)


def test_every_type_that_an_audio_file_may_have_is_described() -> None:
    paths = build_openapi("1", keyed=False)["paths"]
    assert isinstance(paths, dict)
    content = jsonable(paths["/vae"])["post"]["requestBody"]["content"]
    kinds = {"application/octet-stream", "application/ogg", "audio/*", "multipart/form-data"}
    assert set(content) == kinds
    for kind in ("application/octet-stream", "application/ogg", "audio/flac"):
        AUDIO_PART.check_type(kind)


def jsonable(value: object) -> Any:
    """The value as a reader of the document sees it."""
    return json.loads(json.dumps(value))


def _references(value: object) -> set[str]:
    if isinstance(value, dict):
        own = {str(value["$ref"])} if "$ref" in value else set()
        return own.union(*(_references(inner) for inner in value.values()))
    if isinstance(value, list):
        return set().union(*(_references(inner) for inner in value))
    return set()
