"""`yue2-studio status`: what a running server is doing."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from server.commands.endings import terminable, told

if TYPE_CHECKING:
    from pydantic import JsonValue

DEFAULT_SERVER = "http://127.0.0.1:8000"


def status(
    server: Annotated[str, typer.Option(help="Address of the server.")] = DEFAULT_SERVER,
    key: Annotated[
        str, typer.Option(envvar="STUDIO_API_KEY", help="Its key, if it wants one.", show_default=False)
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="The server's own snapshot, as JSON.")] = False,
) -> None:
    """Show queue, results and worker of a running server."""
    with told(), terminable():
        from server.client import Client, Unreachable

        try:
            with Client(server, key) as client:
                snapshot = client.status()
        except Unreachable as error:
            elsewhere = " One at another address is named with --server." if server == DEFAULT_SERVER else ""
            raise Unreachable(f"{error}{elsewhere}") from error
        if as_json:
            typer.echo(json.dumps(snapshot, indent=2))
        else:
            _print(snapshot)


def _print(snapshot: "dict[str, JsonValue]") -> None:
    from rich.console import Console
    from rich.table import Table

    from server.commands.snapshot import rows

    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold")
    table.add_column()
    for name, words in rows(snapshot):
        table.add_row(name, words)
    Console(highlight=False, soft_wrap=True).print(table)
