"""`yue2-studio mcp`: a running server as tools for agents' programs that speak MCP over stdin and stdout."""

from typing import Annotated

import typer

from server.commands.endings import told
from server.commands.status import DEFAULT_SERVER


def mcp(
    server: Annotated[str, typer.Option(help="Address of the server.")] = DEFAULT_SERVER,
    key: Annotated[
        str,
        typer.Option(
            "--api-key",
            "--key",
            envvar=["YUE2_API_KEY", "STUDIO_API_KEY"],
            help="Its key, if it wants one.",
            show_default=False,
        ),
    ] = "",
) -> None:
    """Offer a running server to an agent's program, as MCP over stdin and stdout.

    Not for typing: the program that uses the tools starts it, from a line of its settings such as `yue2-studio mcp --server
    http://127.0.0.1:8000`. It starts and lists also while no server runs. Programs that speak MCP over HTTP need it not:
    they take the server's address with /mcp at the end.
    """
    with told():
        from server.commands.stdio_serving import serve_stdio

        serve_stdio(studio_address(server), key)


def studio_address(given: str) -> str:
    """The server's address of what somebody may well give for it: one without its scheme, or that of its MCP."""
    address = given.strip().rstrip("/").removesuffix("/mcp").rstrip("/")
    return address if "://" in address or not address else f"http://{address}"
