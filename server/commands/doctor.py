"""`yue2-studio doctor`: what this machine would make songs, speech and transcripts with, and what is in the way."""

import json
import os
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from server.commands.endings import FAILED, say, terminable, told

if TYPE_CHECKING:
    from server.commands.checkup import Checkup


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="The report as JSON.")] = False,
    verify: Annotated[
        bool, typer.Option("--verify", help="Also read all weights and compare their digests.")
    ] = False,
) -> None:
    """Tell what songs, speech and transcripts would be made with: device, number formats, memory, state of the models.

    Looks at the same settings as the server. Exit status 1 where something is wrong, such as a card that torch cannot
    use, a model that is not complete or built-in weights that are damaged; 2 where a setting is wrong or YUE2_MODEL and YUE2_VAE are not set together.
    """
    with told(), terminable():
        from server.commands.checkup import check_up
        from server.settings import load

        found = check_up(load(os.environ), os.environ, verify)
        if as_json:
            typer.echo(json.dumps(found.to_json(), indent=2))
        else:
            _print(found)
        if as_json or not _at_terminal():  # else they stand there already
            for sentence in (*found.problems, *found.warnings):
                say(sentence)
        if found.problems:
            raise typer.Exit(FAILED)


def _at_terminal() -> bool:
    return sys.stdout.isatty()


def _print(found: "Checkup") -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table(show_header=False, box=None, pad_edge=False)
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, words in found.rows():
        table.add_row(name, words)
    Console(highlight=False, markup=False).print(table)
