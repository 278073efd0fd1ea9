"""The options of `yue2-studio transcribe`."""

from pathlib import Path
from typing import Annotated, Literal

import typer

File = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="Recording: WAV, FLAC, MP3 or Ogg; with the extra `containers` also M4A, WebM and video.",
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", help="File to write: .txt, .json, .srt or .vtt.", show_default="standard output"
    ),
]
Form = Annotated[
    Literal["text", "json", "srt", "vtt"] | None,
    typer.Option(
        "--format",
        help="Plain text, everything as JSON, or subtitles.",
        show_default="as the file's name says, else text",
    ),
]
Language = Annotated[
    str, typer.Option(help="Language spoken, such as en or de.", show_default="found out where it can be")
]
Task = Annotated[
    Literal["transcribe", "translate"],
    typer.Option(help="Write down what is said, or translate it into English where the model can."),
]
Prompt = Annotated[
    str, typer.Option(help="Words and names that may be said, in the spelling wanted.", show_default=False)
]
Temperature = Annotated[
    float,
    typer.Option(help="0 searches for the likeliest words; more draws them.", min=0, max=1, show_default="0"),
]
Model = Annotated[str, typer.Option(help="Model that listens.", show_default="the default one")]
Server = Annotated[str, typer.Option(help="Address of a running server to listen there.", show_default=False)]
Key = Annotated[str, typer.Option(envvar="STUDIO_API_KEY", help="That server's key.", show_default=False)]
