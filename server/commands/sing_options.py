"""The options of `yue2-studio sing`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

Output = Annotated[
    Path,
    typer.Option(
        "-o", "--output", help="File to write: .mp3, .opus, .ogg (which is Opus too), .flac or .wav."
    ),
]
Style = Annotated[str, typer.Option(help="Tags such as 'folk, 84 BPM, acoustic guitar'.")]
Lyrics = Annotated[str, typer.Option(help="Words to sing, with [Verse] and [Chorus] lines; - reads stdin.")]
LyricsFile = Annotated[Path | None, typer.Option(help="File with the words.", show_default=False)]
AbcFile = Annotated[
    Path | None, typer.Option(help="ABC score to perform instead of a new one.", show_default=False)
]
Seed = Annotated[
    int | None,
    typer.Option(help="Same seed, same song; with --replay another sound.", min=0, show_default="random"),
]
Duration = Annotated[
    float | None,
    typer.Option(help="Longest length in seconds; at most 360 unless told.", show_default=False),
]
Model = Annotated[
    str, typer.Option(help="yue2, or sketch for the built-in band.", show_default="yue2 where it is set up")
]
Cot = Annotated[
    Literal["full", "melody", "off"] | None,
    typer.Option(help="Score that YuE2 plans first: with chords, melody alone, none.", show_default="full"),
]
Steps = Annotated[
    int | None,
    typer.Option(help="Steps in which YuE2 makes the sound.", min=1, max=100, show_default="32"),
]
Replay = Annotated[
    Path | None,
    typer.Option(
        help="Replay (JSON) to sing again; of the song's options only --seed and --steps go with it.",
        show_default=False,
    ),
]
ScoreFile = Annotated[
    Path | None, typer.Option("--score", help="Also write the score, as ABC.", show_default=False)
]
SaveReplay = Annotated[
    Path | None, typer.Option(help="Also write the replay, which gives this song again.", show_default=False)
]
Words = Annotated[
    Path | None,
    typer.Option(
        help="Also write when each word is sung: .json, or subtitles as .srt or .vtt.", show_default=False
    ),
]
Server = Annotated[str, typer.Option(help="Address of a running server to sing there.", show_default=False)]
Key = Annotated[str, typer.Option(envvar="STUDIO_API_KEY", help="That server's key.", show_default=False)]
