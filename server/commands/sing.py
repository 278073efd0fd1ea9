"""`yue2-studio sing`: one song into a file, in this process or by a running server."""

import secrets
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from server.commands import sing_options as options
from server.commands.endings import say, terminable, told

if TYPE_CHECKING:
    from pydantic import JsonValue

    from server.client import Client
    from server.commands.song import Singer


def sing(
    output: options.Output,
    style: options.Style = "",
    lyrics: options.Lyrics = "",
    lyrics_file: options.LyricsFile = None,
    abc_file: options.AbcFile = None,
    seed: options.Seed = None,
    duration: options.Duration = None,
    model: options.Model = "",
    cot: options.Cot = None,
    steps: options.Steps = None,
    replay: options.Replay = None,
    score: options.ScoreFile = None,
    save_replay: options.SaveReplay = None,
    words: options.Words = None,
    server: options.Server = "",
    key: options.Key = "",
) -> None:
    """Make one song and write it to a file.

    YuE2 sings where YUE2_MODEL and YUE2_VAE name its weights, or where the server has it. Without any the built-in band plays and its own voice sings English words; those in other scripts are played by an instrument.
    """
    fields: dict[str, JsonValue] = {"style": style, "duration": duration, "model": model, "cot": cot}
    asked = Asked(fields, lyrics, lyrics_file, abc_file, seed, steps, replay)
    files = Files(output, score, save_replay, words)
    asked.check()
    files.check()
    with told(), terminable():
        _sing(asked, files, server, key)


@dataclass(frozen=True, slots=True)
class Asked:
    """What the options say of the song."""

    fields: "dict[str, JsonValue]"
    lyrics: str
    lyrics_file: Path | None
    abc_file: Path | None
    seed: int | None
    steps: int | None
    replay: Path | None

    def check(self) -> None:
        """A replay holds the song: nothing may contradict it but what makes the sound. Raises BadParameter."""
        if self.lyrics and self.lyrics_file:
            raise typer.BadParameter(
                "give the words once: --lyrics or --lyrics-file", param_hint="--lyrics-file"
            )
        texts = {"lyrics": self.lyrics, "lyrics_file": self.lyrics_file, "abc_file": self.abc_file}
        words = {**self.fields, **texts}
        told = [f"--{name.replace('_', '-')}" for name, value in words.items() if value not in ("", None)]
        if self.replay and told:
            raise typer.BadParameter(
                f"a replay holds the whole song; leave out {', '.join(told)}", param_hint="--replay"
            )

    def request(self) -> "dict[str, JsonValue]":
        """The request that it is. Raises InvalidRequest, OSError."""
        from server.commands.asking import replayed, requested

        if self.replay is not None:
            return replayed(self.replay, {"seed": self.seed, "steps": self.steps})
        return requested(
            self.fields | {"steps": self.steps}, self.lyrics, self.lyrics_file, self.abc_file, self.seed
        )


@dataclass(frozen=True, slots=True)
class Files:
    """What the options say of the files to write."""

    output: Path
    score: Path | None
    save_replay: Path | None
    words: Path | None

    def check(self) -> None:
        """Raise BadParameter where two of them are one."""
        taken = [self.output]
        further = {"--score": self.score, "--save-replay": self.save_replay, "--words": self.words}
        for option, file in further.items():
            if file in taken:
                raise typer.BadParameter("name another file than the others", param_hint=option)
            taken += [file] if file else []


def _sing(asked: Asked, files: Files, server: str, key: str) -> None:
    """Have the song made, and tell what came of it. Raises the project's errors."""
    from server.commands.file_formats import AUDIO, WORDS, format_of
    from server.commands.song import Wish, sing
    from server.commands.workplace import Workplace, at_work

    kind = format_of(files.output, AUDIO, "output")
    if files.words is not None:
        format_of(files.words, WORDS, "words")
    payload = asked.request() | {"output_format": kind}
    wish = Wish(payload, files.output, files.score, files.save_replay, files.words, secrets.token_hex(4))
    here = partial(_here, alone=payload.get("model") == "sketch")
    with at_work(Workplace(server, key), _there, here) as (singer, bar):
        sung = sing(wish, singer, bar)
    for note in sung.notes:
        say(note)
    if files.words is not None and not sung.words:
        say(f"{files.words} is empty: no words are sung in this song, or its singer does not tell when.")
    length = "" if sung.seconds is None else f"  {sung.seconds:.1f} s"
    typer.echo(f"{files.output}{length}  seed {payload.get('seed', sung.seed)}")


def _there(client: "Client") -> "Singer":
    from server.commands.remote_singer import RemoteSinger

    return RemoteSinger(client)


def _here(*, alone: bool) -> "Singer":
    from server.commands.local_singer import local_singer

    return local_singer(alone=alone)
