"""A way of writing, and what is said for it.

A rule works on a line whose written words stand one space apart, and leaves as many spaces as it found: what a written
word turns into has GLUE between its own words, and a word that is not said turns into nothing. So each written word is
followed through all rules by its place.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

GLUE: Final = "\x1f"  # white space to every pattern that says \s, but no space


@dataclass(frozen=True, slots=True)
class Rule:
    """What `say` makes of each match of `pattern`."""

    pattern: re.Pattern[str]
    say: Callable[[re.Match[str]], str]


def rule(pattern: str, say: str | Callable[[re.Match[str]], str]) -> Rule:
    """A rule from a pattern, and a replacement as `re.sub` takes it, but with `_` for GLUE where it is a text."""
    if callable(say):
        return Rule(re.compile(pattern), say)
    template = say.replace("_", GLUE)
    return Rule(re.compile(pattern), lambda match: match.expand(template))


def applied(rules: Sequence[Rule], line: str) -> str:
    """The line after all rules, one after the other."""
    for each in rules:
        line = each.pattern.sub(each.say, line)
    return line


def glued(words: str) -> str:
    """Words that stand for one written word."""
    return words.replace(" ", GLUE)


def alternatives(words: Sequence[str] | dict[str, str]) -> str:
    """A pattern for any of the words, the longest first."""
    return "|".join(re.escape(word) for word in sorted(words, key=len, reverse=True))
