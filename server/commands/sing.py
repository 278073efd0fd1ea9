"""`yue2-studio sing`: one song into a file, in this process or by a running server."""

import secrets
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from server.commands import sing_options as options
from server.commands.endings import say, terminable, told

if TYPE_CHECKING:
    from pydantic import JsonValue

    from server.commands.song import Sung, Wish


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
    server: options.Server = "",
    key: options.Key = "",
) -> None:
    """Make one song and write it to a file.

    YuE2 sings where YUE2_MODEL and YUE2_VAE name its weights, or where the server has it. The built-in band plays without any: there a lead instrument has the singer's part, whose melody the words shape.
    """
    asked: dict[str, JsonValue] = {
        "style": style,
        "duration": duration,
        "model": model,
        "cot": cot,
        "steps": steps,
    }
    _check_choice(
        {**asked, "lyrics": lyrics, "lyrics_file": lyrics_file, "abc_file": abc_file, "seed": seed}, replay
    )
    _check_files(output, score, save_replay)
    with told(), terminable():
        from server.commands.asking import replayed, requested
        from server.commands.song import Wish, format_of

        kind = format_of(output)
        request = (
            requested(asked, lyrics, lyrics_file, abc_file, seed) if replay is None else replayed(replay)
        )
        payload = request | {"output_format": kind}
        sung = _sung(Wish(payload, output, score, save_replay, secrets.token_hex(4)), server, key)
        for note in sung.notes:
            say(note)
        length = "" if sung.seconds is None else f"  {sung.seconds:.1f} s"
        typer.echo(f"{output}{length}  seed {payload.get('seed', sung.seed)}")


def _check_choice(asked: dict[str, object], replay: Path | None) -> None:
    """A replay is a whole request: nothing may contradict it."""
    if asked["lyrics"] and asked["lyrics_file"]:
        raise typer.BadParameter("give the words once: --lyrics or --lyrics-file", param_hint="--lyrics-file")
    told = [f"--{name.replace('_', '-')}" for name, value in asked.items() if value not in ("", None)]
    if replay and told:
        raise typer.BadParameter(
            f"a replay holds the whole song; leave out {', '.join(told)}", param_hint="--replay"
        )


def _check_files(output: Path, score: Path | None, save_replay: Path | None) -> None:
    if score == output:
        raise typer.BadParameter("name another file than the song's", param_hint="--score")
    if save_replay in (output, score) and save_replay is not None:
        raise typer.BadParameter("name another file than the others", param_hint="--save-replay")


def _sung(wish: "Wish", server: str, key: str) -> "Sung":
    from server.commands.bar import Bar
    from server.commands.song import sing

    with Bar() as bar:
        if server:
            from server.client import Client
            from server.commands.remote_singer import RemoteSinger

            with Client(server, key, on_wait=bar.waiting) as client:
                return sing(wish, RemoteSinger(client), bar)
        from server.commands.local_singer import local_singer

        return sing(wish, local_singer(), bar)
