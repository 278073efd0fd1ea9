"""`yue2-studio serve`: run the server until a signal."""

import os
from typing import Annotated

import typer

from server.commands.endings import told


def serve(
    host: Annotated[
        str | None, typer.Option(help="Address to listen on; instead of YUE2_HOST.", show_default=False)
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            help="Port to listen on, 0 for a free one; instead of YUE2_PORT.",
            min=0,
            max=65535,
            show_default=False,
        ),
    ] = None,
) -> None:
    """Run the server until Ctrl-C or SIGTERM; everything else is set by YUE2_ variables."""
    with told():
        from server.settings import load

        settings = load(_environ(host, port))
        from server.serve import run

        raise typer.Exit(run(settings))


def _environ(host: str | None, port: int | None) -> dict[str, str]:
    """The environment with what the command line says in its place."""
    chosen = {"YUE2_HOST": host, "YUE2_PORT": None if port is None else str(port)}
    return {**os.environ, **{name: value for name, value in chosen.items() if value is not None}}
