"""The names of OpenAI's voices, and whose voice here answers to each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import JsonValue

from engine.errors import InvalidRequest


@dataclass(frozen=True, slots=True)
class _Likeness:
    """What a voice is like: its gender, and the one of Kokoro's that comes nearest."""

    gender: str
    nearest: str


OPENAI_VOICES: Final[Mapping[str, _Likeness]] = {
    "alloy": _Likeness("female", "af_alloy"),
    "ash": _Likeness("male", "am_michael"),
    "ballad": _Likeness("male", "bm_george"),
    "coral": _Likeness("female", "af_bella"),
    "echo": _Likeness("male", "am_echo"),
    "fable": _Likeness("male", "bm_fable"),
    "onyx": _Likeness("male", "am_onyx"),
    "nova": _Likeness("female", "af_nova"),
    "sage": _Likeness("female", "af_sarah"),
    "shimmer": _Likeness("female", "af_sky"),
    "verse": _Likeness("male", "am_puck"),
    "marin": _Likeness("female", "af_kore"),
    "cedar": _Likeness("male", "am_adam"),
}


def voices_of(model: Mapping[str, JsonValue]) -> tuple[tuple[str, str], ...]:
    """Id and gender of each voice that a model of `/props` has, the default one first as it is told there."""
    told = model.get("voices")
    listed = told if isinstance(told, list) else []
    return tuple((str(voice["id"]), str(voice.get("gender"))) for voice in listed if isinstance(voice, dict))


def voice_named(name: str, present: Sequence[tuple[str, str]]) -> str:
    """The id of the voice that a name means: our own ids as they are, OpenAI's names by likeness, "" for the default.

    One of OpenAI's is the nearest voice where that is present, else one of the same gender, else the default. Raises
    InvalidRequest for any other name.
    """
    ids = [id_ for id_, _ in present]
    likeness = OPENAI_VOICES.get(name)
    if name in ("", *ids):
        return name
    if likeness is None:
        theirs = ", ".join(sorted(OPENAI_VOICES))
        raise InvalidRequest(
            "voice",
            f"There is no voice {name[:80]!r} here; choose one of this server's, {', '.join(ids)}, or a name of OpenAI's: {theirs}.",
        )
    if likeness.nearest in ids:
        return likeness.nearest
    alike = [id_ for id_, gender in present if gender == likeness.gender]
    if not alike:
        return ""
    names = [other for other, same in OPENAI_VOICES.items() if same.gender == likeness.gender]
    return alike[names.index(name) % len(alike)]
