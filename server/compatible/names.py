"""The names that other vendors' models have, which their clients send; each stands for our default model of its kind."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from typing import Final

from pydantic import JsonValue

from engine.errors import InvalidRequest, UnknownModel


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
OPERATIONS: Final = {Kind.SPEECH: "speech", Kind.TRANSCRIPTION: "transcribe", Kind.MUSIC: "synth"}
"""What a model of each kind can do, in the words of `/props`."""

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


def names_of(models: Iterable[Mapping[str, JsonValue]], *kinds: Kind) -> tuple[str, ...]:
    """Every name that stands for a model of these kinds: ours, as `/props` describes them, then the vendors'."""
    wanted = {OPERATIONS[kind]: kind for kind in kinds}
    present = {str(model["id"]): _operations(model) & set(wanted) for model in models}
    ours = [id_ for id_, found in present.items() if found]
    here = {wanted[operation] for found in present.values() for operation in found}
    return (*ours, *(name for kind in Kind if kind in here for name in VENDOR_NAMES[kind]))


def _operations(model: Mapping[str, JsonValue]) -> set[str]:
    told = model.get("operations")
    return {str(operation) for operation in told} if isinstance(told, list) else set()


@contextmanager
def telling(names: Sequence[str]) -> Iterator[None]:
    """Let who names a model that is not here be told all names that would do."""
    try:
        yield
    except UnknownModel as error:
        if error.remedy:
            raise
        remedy = f"choose one of: {', '.join(names)}; GET /v1/models lists every one"
        raise UnknownModel(error.model, tuple(names), remedy) from error


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
