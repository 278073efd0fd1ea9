"""The command line, `yue2-studio`; its exit codes are listed in `server.commands.endings`."""

from typing import Annotated

import typer

from server.commands.doctor import doctor
from server.commands.mcp import mcp
from server.commands.pull import pull
from server.commands.say import say
from server.commands.serve import serve
from server.commands.sing import sing
from server.commands.status import status
from server.commands.transcribe import transcribe
from server.commands.voices import voices

app = typer.Typer(
    name="yue2-studio",
    help="Songs, speech and transcripts, on your own machine.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
for command in (serve, sing, say, transcribe, mcp, status, pull, voices, doctor):
    app.command()(command)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"yue2-studio {version('yue2-studio')}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and leave.")
    ] = False,
) -> None:
    """Songs, speech and transcripts, on your own machine."""


def main() -> None:
    """Run the command line."""
    app(prog_name="yue2-studio")


if __name__ == "__main__":
    main()
