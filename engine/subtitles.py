"""Transcripts as subtitles: SubRip (.srt) and WebVTT (w3.org/TR/webvtt1).

A cue is at most two lines of 42 columns and 7 seconds, and ends where a sentence does or the speaker pauses.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from engine.transcription_model import Segment, Transcript
from engine.words import Word

SRT_TYPE: Final = "application/x-subrip"
VTT_TYPE: Final = "text/vtt; charset=utf-8"
LINE_COLUMNS: Final = 42
CUE_SECONDS: Final = 7.0
PAUSE_SECONDS: Final = 0.8
SHORTEST_SECONDS: Final = 0.1
_SENTENCE_COLUMNS: Final = 16  # a sentence shorter than this shares its cue with the next
_ENDS: Final = (".", "?", "!", "…", "。", "？", "！")
_CLOSING: Final = "\"')]»”’」』）"


@dataclass(frozen=True, slots=True)
class Cue:
    """What is shown at once; seconds from the start of the audio."""

    start: float
    end: float
    text: str


def as_srt(transcript: Transcript) -> str:
    """The transcript as SubRip."""
    return "".join(
        f"{number}\n{_clock(cue.start, ',')} --> {_clock(cue.end, ',')}\n{cue.text.replace('-->', '->')}\n\n"
        for number, cue in enumerate(cues(transcript), start=1)
    )


def as_vtt(transcript: Transcript) -> str:
    """The transcript as WebVTT."""
    return "WEBVTT\n\n" + "".join(
        f"{_clock(cue.start, '.')} --> {_clock(cue.end, '.')}\n{_escaped(cue.text)}\n\n"
        for cue in cues(transcript)
    )


def cues(transcript: Transcript) -> list[Cue]:
    """The cues, in order and without overlap."""
    drafts = [cue for segment in transcript.segments for cue in _cues_of(segment)]
    nexts = [*(cue.start for cue in drafts[1:]), float("inf")][: len(drafts)]
    return [
        Cue(cue.start, min(max(cue.end, cue.start + SHORTEST_SECONDS), max(following, cue.start)), cue.text)
        for cue, following in zip(drafts, nexts, strict=True)
    ]


def _cues_of(segment: Segment) -> Iterator[Cue]:
    words = _spaced(segment)
    if not words:
        yield from _cues_of_text(segment)
        return
    group: list[Word] = []
    for word in words:
        if group and _is_over(group, word):
            yield _cue(group)
            group = []
        group.append(word)
    yield _cue(group)


def _cues_of_text(segment: Segment) -> Iterator[Cue]:
    """One cue for a segment without word times."""
    if segment.text.strip():
        yield Cue(segment.start, segment.end, _in_lines(segment.text))


def _spaced(segment: Segment) -> list[Word]:
    """The segment's words with the spaces and marks that are theirs in its text, where all are found there in order."""
    words = [Word(word.text.strip(), word.start, word.end) for word in segment.words if word.text.strip()]
    places, position = [0], 0
    for word in words:
        found = segment.text.find(word.text, position)
        if found < 0:
            return [Word(f" {word.text}", word.start, word.end) for word in words]
        places.append(found)
        position = found + len(word.text)
    ends = [*places[2:], len(segment.text)]
    starts = [0, *places[2:]]
    return [
        Word(segment.text[start:end], word.start, word.end)
        for word, start, end in zip(words, starts[: len(words)], ends[: len(words)], strict=True)
    ]


def _is_over(group: Sequence[Word], word: Word) -> bool:
    """Whether the cue of this group ends before the word."""
    text = "".join(one.text for one in group).strip()
    is_sentence = text.rstrip(_CLOSING).endswith(_ENDS) and columns(text) >= _SENTENCE_COLUMNS
    return (
        is_sentence
        or word.start - group[-1].end > PAUSE_SECONDS
        or word.end - group[0].start > CUE_SECONDS
        or columns(text + word.text) > 2 * LINE_COLUMNS
    )


def _cue(group: Sequence[Word]) -> Cue:
    return Cue(group[0].start, group[-1].end, _in_lines("".join(word.text for word in group)))


def _in_lines(text: str) -> str:
    """One line, or two of about the same length."""
    flat = " ".join(text.split())
    if columns(flat) <= LINE_COLUMNS:
        return flat
    gaps = [place for place, letter in enumerate(flat) if letter == " "]
    half = columns(flat) / 2
    if not gaps:  # a script without spaces
        middle = len(flat) // 2
        return f"{flat[:middle]}\n{flat[middle:]}"
    place = min(gaps, key=lambda gap: abs(columns(flat[:gap]) - half))
    return f"{flat[:place]}\n{flat[place + 1 :]}"


def columns(text: str) -> int:
    """How wide the text is where an ideograph is two columns wide (unicode.org/reports/tr11)."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def _clock(seconds: float, point: str) -> str:
    milliseconds = round(max(0.0, seconds) * 1000)
    minutes, rest = divmod(milliseconds, 60_000)
    hours, minutes = divmod(minutes, 60)
    return f"{hours:02}:{minutes:02}:{rest // 1000:02}{point}{rest % 1000:03}"


def _escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
