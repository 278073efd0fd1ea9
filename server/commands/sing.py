"""`yue2-studio sing`: one song into a file, in this process or by a running server."""

import secrets
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from server.commands.endings import terminable, told

if TYPE_CHECKING:
    from pydantic import JsonValue

    from server.commands.song import Sung, Wish

SEED_BITS = 52  # what every reader of JSON numbers keeps


def sing(
    output: Annotated[
        Path, typer.Option("-o", "--output", help="File to write: .mp3, .opus, .flac or .wav.")
    ],
    style: Annotated[str, typer.Option(help="Tags such as 'folk, 84 BPM, acoustic guitar'.")] = "",
    lyrics: Annotated[
        str, typer.Option(help="Words for the melody, with [Verse] and [Chorus] lines; - reads stdin.")
    ] = "",
    lyrics_file: Annotated[Path | None, typer.Option(help="File with the words.", show_default=False)] = None,
    abc_file: Annotated[
        Path | None, typer.Option(help="ABC score to play instead.", show_default=False)
    ] = None,
    seed: Annotated[
        int | None, typer.Option(help="Same seed, same song.", min=0, show_default="random")
    ] = None,
    duration: Annotated[
        float | None,
        typer.Option(help="Longest length in seconds; at most 360 unless told.", show_default=False),
    ] = None,
    score: Annotated[
        Path | None, typer.Option(help="Also write the score, as ABC.", show_default=False)
    ] = None,
    server: Annotated[
        str, typer.Option(help="Address of a running server to sing there.", show_default=False)
    ] = "",
    key: Annotated[
        str, typer.Option(envvar="STUDIO_API_KEY", help="That server's key.", show_default=False)
    ] = "",
) -> None:
    """Make one song and write it to a file.

    In this version nobody sings: a lead instrument plays the singer's part. The words shape its melody and stand in the score.
    """
    if lyrics and lyrics_file:
        raise typer.BadParameter("give the words once: --lyrics or --lyrics-file", param_hint="--lyrics-file")
    if score == output:
        raise typer.BadParameter("name another file than the song's", param_hint="--score")
    with told(), terminable():
        from server.commands.song import Wish

        chosen_seed = secrets.randbits(SEED_BITS) if seed is None else seed
        payload = _request(style, _words(lyrics, lyrics_file), abc_file, chosen_seed, duration, output)
        sung = _sung(Wish(payload, output, score, secrets.token_hex(4)), server, key)
        length = "" if sung.seconds is None else f"  {sung.seconds:.1f} s"
        typer.echo(f"{output}{length}  seed {chosen_seed}")


def _request(
    style: str, lyrics: str, abc_file: Path | None, seed: int, duration: float | None, output: Path
) -> "dict[str, JsonValue]":
    """The request; with both seeds in it, so that the seed that is told makes the same song again."""
    from server.commands.song import format_of

    request: dict[str, JsonValue] = {
        "style": style,
        "lyrics": lyrics,
        "abc": _text(abc_file) if abc_file else "",
        "lm_seed": seed,
        "seed": seed,
        "output_format": format_of(output),
    }
    return request if duration is None else request | {"duration": duration}


def _sung(wish: "Wish", server: str, key: str) -> "Sung":
    from server.commands.bar import Bar
    from server.commands.song import sing

    with Bar() as bar:
        if server:
            from server.client import Client
            from server.commands.remote_singer import RemoteSinger

            with Client(server, key, on_wait=bar.waiting) as client:
                return sing(wish, RemoteSinger(client), bar)
        from server.commands.local_singer import sing_here

        return sing(wish, sing_here, bar)


def _words(lyrics: str, lyrics_file: Path | None) -> str:
    if lyrics_file:
        return _text(lyrics_file)
    return sys.stdin.read() if lyrics == "-" else lyrics


def _text(file: Path) -> str:
    from engine.errors import InvalidRequest

    try:
        return file.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidRequest("file", f"{file} is not UTF-8 text; save it as UTF-8.") from error
