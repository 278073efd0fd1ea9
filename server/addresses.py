"""Where clients go astray, and what address they meant."""

import re
from typing import Final

MCP_PATH: Final = "/mcp"
_VENDOR_CALLS: Final = re.compile(
    r"/(audio/(?:speech|transcriptions|translations)|models(?=/|$)|music(?:/stream|/plan|/detailed(?:/stream)?)?)"
    r"(?:(?<=models)/.*|/*)$"
)
_AGENTS_CALLS: Final = re.compile(r"(?:/[\w.-]+)?/(?:mcp|sse|mcp/sse|messages|mcp/messages?)/*", re.ASCII)
_FOLDER: Final = ("/v1", "/v1/")
_NOT_HERE: Final = {
    "/v1/text-to-speech": "/v1/audio/speech",
    "/v1/speech-to-text": "/v1/audio/transcriptions",
}


def meant_path(path: str) -> str:
    """The path of the call that a path comes near, `/v1/music` for `/api/v1/music/`; empty where it is none.

    So do the clients of vendors and agents go astray whose address is not quite ours.
    """
    found = _VENDOR_CALLS.search(path)
    if found:
        return f"/v1/{found[1]}"
    return MCP_PATH if _AGENTS_CALLS.fullmatch(path) else ""


def way(path: str) -> str:
    """Where to go from a path at which there is nothing, as the end of a sentence."""
    meant = meant_path(path)
    if meant == MCP_PATH:
        return (
            f"the Model Context Protocol is spoken at {MCP_PATH}, without a slash at its end and over streamable HTTP alone: "
            "give the agent's client that address, such as http://127.0.0.1:8000/mcp"
        )
    if meant and path.startswith(meant):
        return f"this call is at {meant}, without a slash at its end"
    if meant:
        return (
            f"this call is at {meant}: give OpenAI's clients a base_url that ends in /v1, such as "
            "http://127.0.0.1:8000/v1, and ElevenLabs' clients one without, such as http://127.0.0.1:8000"
        )
    instead = next((call for start, call in _NOT_HERE.items() if path.startswith(start)), "")
    if instead:
        return f"this call of ElevenLabs' is not answered here, but OpenAI's at {instead} is"
    if path.startswith("/v1/") and path not in _FOLDER:
        return "below /v1 are the calls of OpenAI's and ElevenLabs' clients alone: leave it out for all others, which /openapi.json lists"
    if path in _FOLDER:
        return (
            "the calls of OpenAI's clients have addresses such as /v1/audio/speech, those of ElevenLabs' such as "
            "/v1/music, and /openapi.json lists all there are"
        )
    return "/openapi.json lists what is"
