"""How well words were understood: edit distance between what was said and what was heard."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Match:
    """Words said, and how many of them were heard right, heard wrong, missed; `added` were never said."""

    said: int
    right: int
    wrong: int
    missed: int
    added: int

    @property
    def error(self) -> float:
        """The word error rate: all faults by the words said."""
        return (self.wrong + self.missed + self.added) / max(1, self.said)

    @property
    def recognised(self) -> float:
        """The share of the words said that were heard right."""
        return self.right / max(1, self.said)

    def __add__(self, other: "Match") -> "Match":
        return Match(
            self.said + other.said,
            self.right + other.right,
            self.wrong + other.wrong,
            self.missed + other.missed,
            self.added + other.added,
        )


NOTHING = Match(0, 0, 0, 0, 0)


def words_of(text: str) -> list[str]:
    """Words in small letters, without marks; an apostrophe within a word stays."""
    plain = unicodedata.normalize("NFKC", text).lower().replace("’", "'")
    return re.findall(r"[^\W_]+(?:'[^\W_]+)*", plain)


def match(said: str, heard: str) -> Match:
    """The cheapest way from what was said to what was heard (Levenshtein, 1966), counted."""
    return match_words(words_of(said), words_of(heard))


def match_words(said: Sequence[str], heard: Sequence[str]) -> Match:
    """As `match`, for words."""
    row = [(place, Match(0, 0, 0, 0, place)) for place in range(len(heard) + 1)]
    for word in said:
        first_cost, first = row[0]
        above, row = row, [(first_cost + 1, first + Match(1, 0, 0, 1, 0))]
        for place, other in enumerate(heard):
            right = word == other
            row.append(
                min(
                    (above[place][0] + (not right), above[place][1] + Match(1, right, not right, 0, 0)),
                    (above[place + 1][0] + 1, above[place + 1][1] + Match(1, 0, 0, 1, 0)),
                    (row[place][0] + 1, row[place][1] + Match(0, 0, 0, 0, 1)),
                    key=lambda way: way[0],
                )
            )
    return row[-1][1]
