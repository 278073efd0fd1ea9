"""What address a client meant that calls another; the sentences are with the envelopes they stand in."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.addresses import MCP_PATH, meant_path, way


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("/v1/audio/speech", "/v1/audio/speech"),
        ("/api/v1/audio/speech/", "/v1/audio/speech"),
        ("/models/some/mcp", "/v1/models"),
        ("/mcp", MCP_PATH),
        ("/mcp/", MCP_PATH),
        ("/v1/mcp/", MCP_PATH),
        ("/sse", MCP_PATH),
        ("/mcp/messages/", MCP_PATH),
        ("/mcp/transcribe", ""),
        ("/", ""),
        ("", ""),
    ],
)
def test_a_path_that_is_nearly_a_call_is_taken_for_it(path: str, meant: str) -> None:
    assert meant_path(path) == meant


@given(st.text(max_size=200) | st.from_regex(r"/(mcp|sse|models|music|v1)[/a-z]{0,400}", fullmatch=True))
def test_any_path_has_a_way_on(path: str) -> None:
    assert meant_path(path) in ("", MCP_PATH) or meant_path(path).startswith("/v1/")
    assert re.search(r"/(openapi\.json|v1/|mcp)", way(path))
