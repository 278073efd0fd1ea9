"""`yue2-studio pull`: fetch the weights of YuE2."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from server.commands.endings import say, terminable, told

if TYPE_CHECKING:
    from collections.abc import Sequence

    from server.commands.pulling import Half

INTO = Path("data/models")


def pull(
    into: Annotated[Path, typer.Option(help="Folder that gets a folder for each of the two models.")] = INTO,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Agree to size and licence without being asked.")
    ] = False,
    model_repo: Annotated[str, typer.Option(help="Repository of the language model.")] = "m-a-p/YuE2-3B",
    vae_repo: Annotated[str, typer.Option(help="Repository of the audio decoder.")] = "m-a-p/YuE2-Vae",
    model_revision: Annotated[
        str, typer.Option(help="Branch, tag or commit of the language model.")
    ] = "main",
    vae_revision: Annotated[str, typer.Option(help="Branch, tag or commit of the audio decoder.")] = "main",
) -> None:
    """Fetch the models of YuE2 (7.8 GB) from the Hugging Face hub.

    Their licence is CC BY-NC 4.0: not for commercial use. What an interrupted run has fetched is kept; the same
    command goes on from there. HF_ENDPOINT names a mirror, HF_TOKEN a token of yours.
    """
    with told(), terminable():
        from server.commands.pulling import fetch_all

        halves = _halves(into.absolute(), (model_repo, model_revision), (vae_repo, vae_revision))
        if all(half.is_whole() for half in halves):
            say("The models are already there. To fetch them again, remove their folders first.")
        else:
            fetch_all(halves, yes, at_terminal())
        _tell_strays(halves)
        _tell_settings(halves)


def _halves(into: Path, model: tuple[str, str], vae: tuple[str, str]) -> "tuple[Half, Half]":
    """Both halves of repositories with revisions; BadParameter where they would fill the same folder."""
    from server.commands.model_files import audio_decoder, language_model
    from server.commands.pulling import Half

    halves = (
        Half(language_model(model[0]), model[1], into),
        Half(audio_decoder(vae[0]), vae[1], into),
    )
    if halves[0].folder == halves[1].folder:
        raise typer.BadParameter("both repositories have the same name", param_hint="--vae-repo")
    return halves


def at_terminal() -> bool:
    """Whether somebody can be asked."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _tell_strays(halves: "Sequence[Half]") -> None:
    for half in halves:
        if strays := half.strays():
            say(
                f"{half.folder} also holds weights that are not of this model and keep it from being loaded; "
                f"remove them: {', '.join(strays)}"
            )


def _tell_settings(halves: "Sequence[Half]") -> None:
    """The settings on standard output, where a script can take them; what to do with them on the other."""
    for half in halves:
        typer.echo(f"{half.part.variable}={half.folder}")
    both = " ".join(f"{half.part.variable}={shlex.quote(str(half.folder))}" for half in halves)
    say(f"Start the server with both of them set, for example with\n    {both} ./task start")
    say(
        "With the same settings './task doctor' or 'yue2-studio doctor' tells what this machine will do with the models."
    )
