"""`yue2-studio say`: a text as speech into a file, in this process or by a running server."""

import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from server.commands import say_options as options
from server.commands.endings import say as tell
from server.commands.endings import terminable, told

if TYPE_CHECKING:
    from pydantic import JsonValue

    from server.client import Client
    from server.commands.speech import Errand, Speaker


def say(
    text: options.Text = None,
    output: options.Output = None,
    text_file: options.TextFile = None,
    voice: options.Voice = "",
    speed: options.Speed = 1.0,
    seed: options.Seed = None,
    model: options.Model = "",
    words: options.Words = None,
    list_voices: options.ListVoices = False,
    server: options.Server = "",
    key: options.Key = "",
) -> None:
    """Say a text and write the sound to a file.

    Works on any CPU without a download; the built-in voice speaks English. Numbers, dates and units are read out as people do.
    """
    if list_voices:
        with told(), terminable():
            _print_voices(server, key)
        return
    asked = Asked(
        {"voice": voice, "speed": speed, "model": model, "seed": seed}, text, text_file, output, words
    )
    asked.check()
    with told(), terminable():
        _say(asked, server, key)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the options say of the speech."""

    fields: "dict[str, JsonValue]"
    text: str | None
    text_file: Path | None
    output: Path | None
    words: Path | None

    def check(self) -> None:
        """Raise BadParameter where something is missing, or given twice."""
        if self.text == "" and not self.text_file:
            raise typer.BadParameter("the text is empty; give some words", param_hint="TEXT")
        if bool(self.text) == bool(self.text_file):
            raise typer.BadParameter(
                "give the text once: as the argument, - for stdin, or with --text-file", param_hint="TEXT"
            )
        if self.output is None:
            raise typer.BadParameter("name the file to write with -o", param_hint="--output")
        if self.words == self.output:
            raise typer.BadParameter("name another file than the speech's", param_hint="--words")

    def errand(self) -> "Errand":
        """The request, and the files it goes to. Raises InvalidRequest, OSError."""
        from server.commands.file_formats import AUDIO, WORDS, format_of
        from server.commands.reading import given
        from server.commands.speech import Errand

        output = self.output or Path()
        payload: dict[str, JsonValue] = {
            name: value for name, value in self.fields.items() if value not in ("", None)
        }
        payload["output_format"] = format_of(output, AUDIO, "output")
        kind = format_of(self.words, WORDS, "words") if self.words else ""
        payload["text"] = given(self.text or "", self.text_file)
        return Errand(payload, output, self.words, kind, secrets.token_hex(4))


def _say(asked: Asked, server: str, key: str) -> None:
    """Have the text said, and tell what came of it. Raises the project's errors."""
    from server.commands.speech import say_into
    from server.commands.workplace import Workplace, at_work

    errand = asked.errand()
    with at_work(Workplace(server, key), _there, _here) as (speaker, bar):
        said = say_into(errand, speaker, bar)
    for note in said.notes:
        tell(note)
    length = "" if said.seconds is None else f"  {said.seconds:.1f} s"
    typer.echo(f"{errand.output}{length}")


def _there(client: "Client") -> "Speaker":
    from server.commands.remote_speaker import RemoteSpeaker

    return RemoteSpeaker(client)


def _here() -> "Speaker":
    from server.commands.local_speaker import local_speaker

    return local_speaker()


def _print_voices(server: str, key: str) -> None:
    """A line for each voice: its name, and what is known of it."""
    for name, words in _voices(server, key):
        typer.echo(f"{name}  {words}".rstrip())


def _voices(server: str, key: str) -> "list[tuple[str, str]]":
    from server.commands.voice_list import voices_in

    if server:
        from server.client import Client

        with Client(server, key) as client:
            return voices_in(client.props().get("models"))
    import os

    from server.commands.local_models import speaking

    return voices_in([*speaking(os.environ).describe()])
