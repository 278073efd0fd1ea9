"""`yue2-studio transcribe`: what a recording says, as text or subtitles, in this process or by a running server."""

import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from server.commands import transcribe_options as options
from server.commands.endings import say, terminable, told

if TYPE_CHECKING:
    from pydantic import JsonValue

    from server.client import Client
    from server.commands.transcript import Listener


def transcribe(
    file: options.File,
    output: options.Output = None,
    form: options.Form = None,
    language: options.Language = "",
    task: options.Task = "transcribe",
    prompt: options.Prompt = "",
    temperature: options.Temperature = 0.0,
    model: options.Model = "",
    server: options.Server = "",
    key: options.Key = "",
) -> None:
    """Write down what a recording says, with the time of every word.

    Works on any CPU without a download, in English; a larger Whisper model in the folder that YUE2_WHISPER names knows more languages.
    """
    fields: dict[str, JsonValue] = {
        "language": language,
        "task": task,
        "prompt": prompt,
        "temperature": temperature,
        "model": model,
    }
    with told(), terminable():
        _transcribe(Asked(fields, file, output, form), server, key)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the options say."""

    fields: "dict[str, JsonValue]"
    file: Path
    output: Path | None
    form: str | None

    def payload(self) -> "dict[str, JsonValue]":
        """The request; what is empty is left to the defaults."""
        return {name: value for name, value in self.fields.items() if value != ""}

    def chosen_form(self) -> str:
        """The form that is asked for, else the one of the file's name. Raises InvalidRequest."""
        from server.commands.file_formats import TRANSCRIPTS, format_of

        if self.form is not None or self.output is None:
            return self.form or "text"
        return format_of(self.output, TRANSCRIPTS, "output")


def _transcribe(asked: Asked, server: str, key: str) -> None:
    """Have it written down, and print or keep it. Raises the project's errors."""
    from server.commands.transcript import in_form
    from server.commands.workplace import Workplace, at_work

    form = asked.chosen_form()
    with at_work(Workplace(server, key), _there, _here) as (listener, bar):
        heard = listener(asked.file, asked.payload(), bar)
    for note in heard.transcript.notes:
        say(note)
    if not heard.transcript.text.strip():
        say("No words were found in it.")
    written = in_form(heard, form)
    if asked.output is None:
        typer.echo(written, nl=False)
        return
    from server.commands.replacing import replacing

    with replacing(asked.output, secrets.token_hex(4)) as sink:
        sink.write(written.encode())


def _there(client: "Client") -> "Listener":
    from server.commands.remote_listener import RemoteListener

    return RemoteListener(client)


def _here() -> "Listener":
    from server.commands.local_listener import local_listener

    return local_listener()
