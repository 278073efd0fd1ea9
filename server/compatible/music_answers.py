"""What ElevenLabs' detailed music calls tell of a song beside its sound, and the body that holds both."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import Final

from engine.errors import ScoreError
from engine.score import parse, timeline
from engine.sketch.style import genres_named
from server.compatible.music import Composition, written
from server.compatible.music_plan import Section, SongPlan
from server.compatible.music_prompt import draft
from storage.entry import JSON

LONGEST_TITLE, LONGEST_DESCRIPTION = 60, 300
UNTITLED: Final = "Untitled"
_LANGUAGES: Final = {
    "english": "en",
    "mandarin": "zh",
    "chinese": "zh",
    "cantonese": "yue",
    "japanese": "ja",
    "korean": "ko",
    "spanish": "es",
    "french": "fr",
    "german": "de",
    "italian": "it",
    "portuguese": "pt",
    "russian": "ru",
}


@dataclass(frozen=True, slots=True)
class Sung:
    """A finished song as its replay tells it, and how long it is."""

    replay: Mapping[str, JSON]
    milliseconds: int

    @property
    def has_words(self) -> bool:
        """Whether it is known when its words are sung."""
        return isinstance(self.replay.get("words"), list)


def described(asked: Composition, sung: Sung, waveform: Sequence[int] | None = None) -> dict[str, JSON]:
    """The JSON of a detailed answer; `waveform` is told where there is one."""
    plan = _as_sung(asked, sung)
    told: dict[str, JSON] = {
        "composition_plan": written(asked, plan),
        "song_metadata": _metadata(plan, str(sung.replay.get("style", "")), sung),
    }
    if asked.with_timestamps:
        told["words_timestamps"] = _timestamps(sung, plan)
    if waveform is not None:
        told["waveform_visual"] = list(waveform)
    return told


def _as_sung(asked: Composition, sung: Sung) -> SongPlan:
    """The plan with the sections and times that the score has; where there is none to be read, as it was drafted.

    The last section has what fades after it. Sections may be shorter than a plan that is sent could have them.
    """
    plan = asked.plan.without_words() if asked.is_instrumental else asked.plan
    parts = _score_sections(str(sung.replay.get("abc", "")), sung.milliseconds)
    sections = _worded([name for name, _ in parts], plan.sections)
    if not sections or (plan.is_sung and not any(section.lines for section in sections)):
        return draft(plan, sung.milliseconds)
    ends = [round(1000 * end) for end in accumulate(seconds for _, seconds in parts)]
    times = [stop - start for start, stop in pairwise((0, *ends))]
    placed = zip(sections, times, strict=True)
    return replace(plan, sections=tuple(replace(part, milliseconds=time) for part, time in placed))


def _score_sections(abc: str, milliseconds: int) -> list[tuple[str, float]]:
    """Names and seconds of the sections of a score, up to where the song ends."""
    try:
        told = timeline(parse(abc)).sections if abc.strip() else ()
    except ScoreError:
        return []
    end = milliseconds / 1000
    starts = [min(start, end) for _, start, _ in told]
    lengths = [stop - start for start, stop in pairwise([0.0, *starts[1:], end])] if told else []
    parts = zip((name for name, _, _ in told), lengths, strict=True)
    return [(name, seconds) for name, seconds in parts if seconds > 0]


def _worded(names: Sequence[str], asked: Sequence[Section]) -> list[Section]:
    """A section for each of the score's, with words, title and styles of the one that was asked for by that name."""
    left = list(asked)
    sections: list[Section] = []
    for name in names:
        place = next((at for at, section in enumerate(left) if _same(section.name, name)), None)
        if place is None or any(section.lines for section in left[:place]):
            sections.append(Section(name[:1].upper() + name[1:]))
        else:
            sections.append(left[place])
            del left[: place + 1]
    return sections


def _same(asked: str, name: str) -> bool:
    """Whether a score's section is what a heading asked for; a score cuts names short."""
    plain, short = (re.sub(r"\W+", "", text.lower()) for text in (asked, name))
    return bool(short) and plain.startswith(short)


def _metadata(plan: SongPlan, style: str, sung: Sung) -> dict[str, JSON]:
    return {
        "title": _title(plan),
        "description": style[:LONGEST_DESCRIPTION] or None,
        "genres": list(genres_named(style)),
        "languages": list(_languages(plan, style, sung)),
        "is_explicit": None,  # nobody here judges words
    }


def _title(plan: SongPlan) -> str:
    """The first line of the chorus or of the song, else the first tags."""
    sung = [section for section in plan.sections if section.lines]
    chorus = [section for section in sung if section.name.lower().startswith(("chorus", "refrain", "hook"))]
    if sung:
        return (chorus or sung)[0].lines[0][:LONGEST_TITLE].rstrip(" ,.;:")
    tags = ", ".join(plan.styles[:2])[:LONGEST_TITLE].strip()
    return tags[:1].upper() + tags[1:] or UNTITLED


def _languages(plan: SongPlan, style: str, sung: Sung) -> tuple[str, ...]:
    """Of the words: those that the style names, else English where it is known what was sung, since our voice sings that."""
    if not plan.is_sung:
        return ()
    tags = re.findall(r"\w+", style.lower())
    named = tuple(dict.fromkeys(_LANGUAGES[tag] for tag in tags if tag in _LANGUAGES))
    return named or (("en",) if sung.has_words else ())


def _timestamps(sung: Sung, plan: SongPlan) -> list[JSON] | None:
    """When each word is sung; null where the model does not tell, and nothing where nobody sings."""
    words = sung.replay.get("words")
    if not isinstance(words, list):
        return None if plan.is_sung else []
    return [_timestamp(word) for word in words if isinstance(word, dict)]


def _timestamp(word: Mapping[str, JSON]) -> JSON:
    return {"word": word["word"], "start_ms": _ms(word["start"]), "end_ms": _ms(word["end"])}


def _ms(seconds: JSON) -> int:
    return round(1000 * float(seconds)) if isinstance(seconds, int | float) else 0


@dataclass(frozen=True, slots=True)
class Mixed:
    """A `multipart/mixed` body (RFC 2046 §5.1) of JSON and audio, of which the audio lies elsewhere.

    The official client takes the body's first line for the boundary, the second line after the JSON's content type for
    all of the JSON, and whatever follows the head of the audio for audio: so the JSON is one line, and its content
    type the last of its headers. `is_closed` says whether the delimiter that ends a body follows the audio.
    """

    boundary: str
    about: Mapping[str, JSON]
    content_type: str
    filename: str
    is_closed: bool

    @property
    def media_type(self) -> str:
        """Content type of the whole."""
        return f"multipart/mixed; boundary={self.boundary}"

    @property
    def before(self) -> bytes:
        """What precedes the audio."""
        text = json.dumps(self.about, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
        head = (
            f"--{self.boundary}\r\nContent-Type: application/json\r\n\r\n{text}\r\n"
            f"--{self.boundary}\r\nContent-Type: {self.content_type}\r\n"
            f'Content-Disposition: attachment; filename="{self.filename}"\r\n\r\n'
        )
        return head.encode()

    @property
    def after(self) -> bytes:
        """What follows the audio."""
        return f"\r\n--{self.boundary}--\r\n".encode() if self.is_closed else b""


def takes_rest_for_audio(headers: Mapping[str, str]) -> bool:
    """Whether a client is one of ElevenLabs' own, which hand on all that follows the audio as audio."""
    return "elevenlabs" in headers.get("x-fern-sdk-name", "").lower()


def event(name: str, told: JSON) -> bytes:
    """One event of a detailed stream: a line of JSON that names it."""
    text = json.dumps(
        {"event": name, "data": told}, ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )
    return f"data: {text}\n\n".encode()


def opening_events(about: Mapping[str, JSON]) -> Iterator[bytes]:
    """The events before the audio's."""
    yield event("composition_plan", about["composition_plan"])
    yield event("song_metadata", about["song_metadata"])


def closing_events(about: Mapping[str, JSON]) -> Iterator[bytes]:
    """The events after the audio's."""
    if about.get("words_timestamps") is not None:
        yield event("word_timestamps", {"words": about["words_timestamps"]})
    if "waveform_visual" in about:
        yield event("waveform_visual", about["waveform_visual"])
    yield event("completion", {"message": "The whole song was sent."})
