"""Words and when they are heard: from the places of tokens, kept within the speech that was detected, or what is loud.

Whisper's attention tells when a token is spoken, but stretches words over pauses, or puts them into one; so each word is
cut to the stretch of speech that it overlaps most, or moved to the one next to it. How tokens become words is as in `whisper/timing.py` of openai-whisper (MIT).
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from engine.words import Word

OPENING: Final = frozenset("\"'“¿([{-„«‹「『（《")
CLOSING: Final = frozenset("\"'.。,，!！?？:：”)]}、…»›」』）》;")
SNAP_SECONDS: Final = 0.25
Stretch = tuple[float, float]  # from, to, in seconds


@dataclass(frozen=True, slots=True)
class Spelling:
    """A word with the blank before it, and how many tokens spell it, the marks that close it among them."""

    text: str
    tokens: int
    closing: int = 0  # tokens of those marks


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
            marked = _joined(merged[-1], word)
            merged[-1] = replace(marked, closing=merged[-1].closing + word.tokens)
        elif mark and OPENING.issuperset(mark):
            opening = _joined(opening, word)
        else:
            merged.append(_joined(opening, word))
            opening = Spelling("", 0)
    if opening.tokens:
        merged.append(opening)
    return merged


def _joined(first: Spelling, second: Spelling) -> Spelling:
    return Spelling(first.text + second.text, first.tokens + second.tokens, second.closing)


def timed(words: Sequence[Spelling], starts: Sequence[float]) -> list[Word]:
    """Words at the times of their tokens; blank ones are left out.

    The marks that close a word count as not spoken: it is they that Whisper has last through the pause. A word that is
    given no time gets that of the marks before it, else a share of the word before it.
    """
    found: list[Word] = []
    place = 0
    for word in words:
        begin, end = starts[place], starts[place + word.tokens - word.closing]
        place += word.tokens
        if not word.text.strip():
            continue
        if end <= begin and found:
            before = found.pop()
            turn = before.end if before.end < begin else _share(before, word.text.strip())
            found.append(Word(before.text, before.start, turn))
            begin = turn
        found.append(Word(word.text.strip(), begin, max(begin, end)))
    return found


def _share(before: Word, text: str) -> float:
    """Where a word gives way to the text that follows it, both as long as they are written."""
    return before.end - (before.end - before.start) * len(text) / (len(before.text) + len(text))


def within_speech(words: Sequence[Word], speech: Sequence[Stretch], limit: float) -> list[Word]:
    """The words, each within one stretch, in order, without overlap and before `limit` seconds.

    That is the stretch it overlaps most, else the nearest, into which it is moved. Without speech words stay where they
    are. The first and the last word of a stretch begin and end with it where they nearly do.
    """
    stretches = [(start, min(stop, limit)) for start, stop in speech if start < limit]
    homes = [_home(word, stretches) for word in words]
    kept: list[Word] = []
    for place, (word, home) in enumerate(zip(words, homes, strict=True)):
        start, end = word.start, word.end
        if home is not None:
            start, end = _moved(word, home)
            if start - home[0] < SNAP_SECONDS and home not in homes[max(0, place - 1) : place]:
                start = home[0]
            if home[1] - end < SNAP_SECONDS and home not in homes[place + 1 : place + 2]:
                end = home[1]
        start = max(min(start, limit), kept[-1].end if kept else 0.0)
        end = max(start, min(end, limit))
        if home is not None and end == start and home in homes[max(0, place - 1) : place]:
            before = kept.pop()
            start = _share(before, word.text)
            kept.append(replace(before, end=start))
        kept.append(Word(word.text, start, end))
    return kept


def _home(word: Word, speech: Sequence[Stretch]) -> Stretch | None:
    """The stretch that the word overlaps most, else the nearest; None where there is none."""
    return max(speech, key=lambda each: _overlap(word, each), default=None)


def _moved(word: Word, home: Stretch) -> Stretch:
    """Where the word is heard within the stretch: at its near end, as long as ever it may be, if the word lay outside."""
    start, end = word.start, word.end
    if start >= home[1]:
        start = home[1] - (end - start)
    elif end <= home[0]:
        end = home[0] + (end - start)
    return min(max(start, home[0]), home[1]), max(min(end, home[1]), home[0])


def _overlap(word: Word, stretch: Stretch) -> float:
    """Seconds that both have; below 0 how far they lie apart."""
    return min(word.end, stretch[1]) - max(word.start, stretch[0])
