"""Text into phonemes, word by word as they were written.

hibari's reading (of hibari-tts 0.2.1) rewrites numbers, dates and abbreviations as words, and gives phonemes for what
comes out, chunk by chunk between spaces; chunks are followed back to the words that were written.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import TYPE_CHECKING, Final

from engine.onnx import quiet_onnxruntime
from engine.speech.alignment import shared_out
from engine.speech.chunks import cut
from engine.speech.lexicon_files import open_reader
from engine.speech.normalisation import said

if TYPE_CHECKING:
    from hibari.g2p import G2P

PUNCTUATION: Final = ';:,.!?—…"“”()'  # of the network's alphabet; all else in it is sound
_AROUND: Final = ";:,.!?—–…-_*~`|\"“”„‘’'()[]{}<>«»"
_STRETCH: Final = (
    300  # chunks that are read at once, since following them back takes the square of their number
)
_INITIALS: Final = re.compile(r"(?:[^\W\d_]\.){2,}")


@dataclass(frozen=True, slots=True)
class Phonemic:
    """One written word, number or symbol, and what is said for it.

    Put side by side, `phonemes + after` of a line's entries are the line's phonemes. Where punctuation opens the line,
    the first entry has no text and no phonemes.
    """

    text: str  # as written, without the punctuation around it
    # Of the network's alphabet; spaces between the words of a number; empty for what is not said.
    phonemes: str
    after: str  # what is between it and the next: spaces and punctuation


@dataclass(frozen=True, slots=True)
class _Chunk:
    before: str  # punctuation
    phonemes: str
    after: str


class Phonemiser:
    """Owns hibari's dictionaries, tagger and network for unknown words, opened when first asked (0.4 s); one thread's."""

    def __init__(self, british: bool = False) -> None:
        self._british = british
        self._reader: G2P | None = None

    def read(self, text: str) -> tuple[Phonemic, ...]:
        """The words of one sentence or line. Raises CheckpointError where hibari's files are not those that were tried."""
        words = said(text)
        chunks = [(place, chunk) for place, word in enumerate(words) for chunk in word.spoken.split()]
        parts: list[list[str]] = [[] for _ in words]
        for start in range(0, len(chunks), _STRETCH):
            stretch = chunks[start : start + _STRETCH]
            for (owner, _), heard in zip(stretch, self._heard([chunk for _, chunk in stretch]), strict=True):
                parts[owner].extend(heard)
        return _joined(
            (word.written, " ".join(filter(None, part))) for word, part in zip(words, parts, strict=True)
        )

    def unload(self) -> None:
        """Give the dictionaries' memory back; the next call opens them again."""
        self._reader = None

    def _heard(self, chunks: Sequence[str]) -> Iterator[list[str]]:
        """Phonemes of what each stretch between spaces is rewritten as."""
        from hibari.g2p.normalize import normalize  # imports scipy, which takes 0.3 s

        line = normalize(" ".join(chunks)).split()
        heard = self._chunks(line)
        for share in shared_out(chunks, line):
            yield heard[share.start : share.stop]

    def _chunks(self, line: Sequence[str]) -> list[str]:
        """Phonemes of each stretch between spaces of a line that is written as it is said."""
        reader = self._opened()
        pieces = [cut(chunk) for chunk in line]
        heard = [""]
        for token in reader.phonemize_tokens(reader.tokenize(" ".join(chain.from_iterable(pieces)))):
            heard[-1] += token.phonemes or ""
            if token.whitespace:
                heard.append("")
        following = iter(heard)
        return [" ".join(filter(None, islice(following, len(chunk)))) for chunk in pieces]

    def _opened(self) -> "G2P":
        if self._reader is None:
            quiet_onnxruntime()  # which its reader of unknown words imports by itself
            self._reader = open_reader(self._british)
        return self._reader


def _split(phonemes: str) -> _Chunk:
    core = phonemes.strip(PUNCTUATION + " ")
    if not core:
        return _Chunk("", "", phonemes)
    start = phonemes.index(core)
    return _Chunk(phonemes[:start], core, phonemes[start + len(core) :])


def _joined(read: Iterable[tuple[str, str]]) -> tuple[Phonemic, ...]:
    entries: list[Phonemic] = []
    last = -1  # of those that are said, where punctuation and spaces go
    for text, phonemes in read:
        chunk = _split(phonemes)
        between = (" " if last >= 0 else "") + chunk.before if phonemes else ""
        if not chunk.phonemes:
            between += chunk.after
        if between and last < 0:
            entries.insert(0, Phonemic("", "", ""))
            last = 0
        if between:
            entries[last] = replace(entries[last], after=entries[last].after + between)
        if chunk.phonemes:
            last = len(entries)
            entries.append(Phonemic(bare(text), chunk.phonemes, chunk.after))
        elif not phonemes:
            entries.append(Phonemic(bare(text), "", ""))
    return tuple(entries)


def bare(word: str) -> str:
    """A written word without the punctuation around it; all of it where it is nothing else."""
    if _INITIALS.fullmatch(word):
        return word
    core = word.strip(_AROUND)
    if not core:
        return word
    sign = "-" if core[0].isdigit() and word[: word.index(core)].endswith("-") else ""
    return sign + core
