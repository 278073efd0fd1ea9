"""The names that other vendors' models have, which their clients send; each stands for our default model of its kind."""

import re
from enum import StrEnum
from typing import Final

from engine.errors import InvalidRequest


class Kind(StrEnum):
    """What a model is for."""

    SPEECH = "speech"
    TRANSCRIPTION = "transcription"
    MUSIC = "music"


VENDOR_NAMES: Final[dict[Kind, tuple[str, ...]]] = {
    Kind.SPEECH: ("tts-1", "tts-1-hd", "gpt-4o-mini-tts"),
    Kind.TRANSCRIPTION: (
        "whisper-1",
        "gpt-4o-transcribe",
        "gpt-4o-mini-transcribe",
        "gpt-4o-transcribe-diarize",
        "gpt-transcribe",
    ),
    Kind.MUSIC: ("music_v1", "music_v2", "music_v2_5"),
}
_DATE: Final = re.compile(r"-\d{4}-\d{2}-\d{2}", re.ASCII)
_KINDS: Final = {name: kind for kind, names in VENDOR_NAMES.items() for name in names}
_DEEDS: Final = {
    Kind.SPEECH: "speaks",
    Kind.TRANSCRIPTION: "writes down speech",
    Kind.MUSIC: "makes songs",
}


def vendor_kind(name: str) -> Kind | None:
    """What the vendor's model of that name is for, a dated one (`tts-1-2025-12-15`) too; None for any other name."""
    end = len(name) - len("-2025-12-15")
    bare = name[:end] if end > 0 and _DATE.fullmatch(name[end:]) else name
    return _KINDS.get(bare)


def speech_model(name: str) -> str:
    """The name to look up among our models of speech, empty for the default one.

    Raises InvalidRequest('model') for a vendor's name that is of another kind.
    """
    return _ours(name, Kind.SPEECH)


def transcription_model(name: str) -> str:
    """The name to look up among our models of transcription. As `speech_model`."""
    return _ours(name, Kind.TRANSCRIPTION)


def music_model(name: str) -> str:
    """The name to look up among our models of songs. As `speech_model`."""
    return _ours(name, Kind.MUSIC)


def _ours(name: str, wanted: Kind) -> str:
    kind = vendor_kind(name)
    if kind is None:
        return name
    if kind is not wanted:
        choice = ", ".join(VENDOR_NAMES[wanted])
        raise InvalidRequest(
            "model",
            f"The model {name!r} is not one that {_DEEDS[wanted]}; name one of ours, which GET /v1/models lists, or {choice}.",
        )
    return ""
