"""The bridge at work: messages on stdin and stdout, everything else on stderr, until stdin or a signal ends it."""

import asyncio
import io
import logging
import signal
import sys
from contextlib import closing, redirect_stdout
from importlib.metadata import version
from typing import Final

import anyio
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server

from server.commands.endable_input import EndableInput
from server.commands.stdio_bridge import StdioBridge, bridge_server
from server.commands.studio_calls import StudioCalls

ENDING: Final = (signal.SIGINT, signal.SIGTERM)


def serve_stdio(address: str, key: str) -> None:
    """Serve until stdin ends, or SIGINT or SIGTERM comes, or nobody reads stdout any more. Raises BadAddress."""
    logging.basicConfig(
        stream=sys.stderr, level=logging.WARNING, format="%(levelname)s %(name)s: %(message)s", force=True
    )
    logging.getLogger("mcp.client").setLevel(logging.CRITICAL)  # what goes wrong there is told to who called
    release = version("yue2-studio")
    studio = StudioCalls(address, key, release)
    with closing(EndableInput(sys.stdin.fileno())) as source:
        try:
            anyio.run(_serve, studio, release, source)
        except* BrokenPipeError:  # whoever read the answers has gone, and with them the questions
            pass


async def _serve(studio: StudioCalls, release: str, source: EndableInput) -> None:
    loop = asyncio.get_running_loop()
    for number in ENDING:
        loop.add_signal_handler(number, source.end)
    async with studio:
        await _speak(bridge_server(StdioBridge(studio), release), source)


async def _speak(server: Server[object], source: EndableInput) -> None:
    lines = io.TextIOWrapper(io.BufferedReader(source), encoding="utf-8", errors="replace")
    async with stdio_server(stdin=anyio.wrap_file(lines)) as (incoming, outgoing):
        try:
            with redirect_stdout(sys.stderr):
                await server.run(incoming, outgoing, server.create_initialization_options())
        finally:
            source.end()  # or the reader would hold up an end that did not come from it
