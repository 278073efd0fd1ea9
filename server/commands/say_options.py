"""The options of `yue2-studio say`."""

from pathlib import Path
from typing import Annotated

import typer

Text = Annotated[
    str | None,
    typer.Argument(
        metavar="TEXT",
        help="What to say, in English; - reads stdin. Needed, or --text-file.",
        show_default=False,
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        help="File to write, needed: .mp3, .opus, .ogg (which is Opus too), .flac or .wav.",
        show_default=False,
    ),
]
TextFile = Annotated[Path | None, typer.Option(help="File with the text.", show_default=False)]
Voice = Annotated[
    str, typer.Option(help="Voice; --list-voices tells which.", show_default="the built-in one")
]
Speed = Annotated[
    float, typer.Option(help="Pace, 0.25 to 4; 1 is the voice's own.", min=0.25, max=4.0, show_default="1")
]
Seed = Annotated[
    int | None,
    typer.Option(help="Same seed, same sound.", min=0, show_default="random"),
]
Model = Annotated[str, typer.Option(help="Model that speaks.", show_default="the default one")]
Words = Annotated[
    Path | None,
    typer.Option(
        help="Also write when each word is heard: .json, or subtitles as .srt or .vtt.", show_default=False
    ),
]
ListVoices = Annotated[bool, typer.Option("--list-voices", help="List the voices and leave.")]
Server = Annotated[str, typer.Option(help="Address of a running server to speak there.", show_default=False)]
Key = Annotated[str, typer.Option(envvar="STUDIO_API_KEY", help="That server's key.", show_default=False)]
