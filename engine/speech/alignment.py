"""Which spoken words stand for which written ones, where a text was rewritten as it is said."""

from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher


def shared_out(written: Sequence[str], spoken: Sequence[str]) -> list[range]:
    """For each written word the positions of the spoken words that stand for it, in order and none left over.

    Words that both have are each other's. Where words were rewritten, each of them gets as many of the new ones as its
    share; words without a letter or digit get none as long as there are others. With nothing written there is nothing
    to share out to.
    """
    if not written:
        return []
    starts = [len(spoken)] * (len(written) + 1)
    for place, start in _starts(written, spoken):
        starts[place] = start
    starts[0] = 0
    for place in range(len(written) - 1, 0, -1):
        starts[place] = min(starts[place], starts[place + 1])
    return [range(starts[place], starts[place + 1]) for place in range(len(written))]


def _starts(written: Sequence[str], spoken: Sequence[str]) -> Iterator[tuple[int, int]]:
    matcher = SequenceMatcher(None, written, spoken, autojunk=False)
    for kind, first, last, begin, end in matcher.get_opcodes():
        if kind == "equal":
            yield from ((first + step, begin + step) for step in range(last - first))
        elif first < last:
            yield from _shares(written, first, last, begin, end)


def _shares(written: Sequence[str], first: int, last: int, begin: int, end: int) -> Iterator[tuple[int, int]]:
    said = [place for place in range(first, last) if any(letter.isalnum() for letter in written[place])]
    takers = said or [first]
    count = end - begin
    for turn, place in enumerate(takers):
        share = turn * count // len(takers) if count > len(takers) else min(turn, count)
        yield place, begin + share
