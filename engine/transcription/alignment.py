"""Words and when they are heard: from the places of tokens, kept within the speech that was detected.

Whisper's attention tells when a token is spoken, but stretches words over pauses; so each word is cut to the stretch of
speech that it overlaps most. How tokens become words is as in `whisper/timing.py` of openai-whisper (MIT).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from engine.words import Word

OPENING: Final = frozenset("\"'“¿([{-„«‹「『（《")
CLOSING: Final = frozenset("\"'.。,，!！?？:：”)]}、…»›」』）》;")
SNAP_SECONDS: Final = 0.25  # speech that begins so little before its first word begins with that word
Stretch = tuple[float, float]  # from, to, in seconds


@dataclass(frozen=True, slots=True)
class Spelling:
    """A word with the blank before it, and how many tokens spell it."""

    text: str
    tokens: int


def token_starts(pairs: Sequence[tuple[int, int]], count: int, tick_seconds: float) -> list[float]:
    """When each of `count` tokens, and the end after them, begins: (count + 1,) seconds.

    `pairs` are (token, tick) on the path that aligns both, in order.
    """
    starts: list[float] = []
    for token, tick in pairs:
        while len(starts) <= min(token, count):
            starts.append(tick * tick_seconds)
    last = pairs[-1][1] * tick_seconds if pairs else 0.0
    return starts + [last] * (count + 1 - len(starts))


def with_punctuation(words: Sequence[Spelling]) -> list[Spelling]:
    """Marks become part of the word that they open or close."""
    merged: list[Spelling] = []
    opening = Spelling("", 0)
    for word in words:
        mark = word.text.strip()
        if merged and not opening.text and mark and CLOSING.issuperset(mark) and word.text == mark:
            merged[-1] = _joined(merged[-1], word)
        elif mark and OPENING.issuperset(mark):
            opening = _joined(opening, word)
        else:
            merged.append(_joined(opening, word))
            opening = Spelling("", 0)
    if opening.tokens:
        merged.append(opening)
    return merged


def _joined(first: Spelling, second: Spelling) -> Spelling:
    return Spelling(first.text + second.text, first.tokens + second.tokens)


def timed(words: Sequence[Spelling], starts: Sequence[float]) -> list[Word]:
    """Words at the times of their tokens; those without a letter are left out."""
    found = []
    place = 0
    for word in words:
        begin, end = starts[place], starts[place + word.tokens]
        place += word.tokens
        if word.text.strip():
            found.append(Word(word.text.strip(), begin, end))
    return found


def within_speech(words: Sequence[Word], speech: Sequence[Stretch]) -> list[Word]:
    """The words, each cut to the stretch it overlaps most, in order and without overlap."""
    kept: list[Word] = []
    entered: Stretch | None = None
    for word in words:
        stretch = max(speech, key=lambda each: _overlap(word, each), default=None)
        start, end = word.start, word.end
        if stretch is not None and _overlap(word, stretch) > 0:
            start, end = max(start, stretch[0]), min(end, stretch[1])
            if stretch != entered and start - stretch[0] < SNAP_SECONDS:
                start = stretch[0]
            entered = stretch
        start = max(start, kept[-1].end if kept else 0.0)
        kept.append(Word(word.text, start, max(start, end)))
    return kept


def _overlap(word: Word, stretch: Stretch) -> float:
    return min(word.end, stretch[1]) - max(word.start, stretch[0])
