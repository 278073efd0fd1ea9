"""The engine's errors in the words of another API's callers."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from engine.errors import InvalidRequest, UnknownModel

# What stands before the name of a field where a sentence tells what to change; elsewhere the word may be prose.
_LEADS: Final = ("no field '", "leave ", "horten ", "ower ", "aise ", "set ", "than ", "needs ")
_QUOTED: Final = r'"(?:[^"\\]|\\.)*"|(?<!no field )(?<!\w)\'[^\']*\''


@contextmanager
def renamed(names: Mapping[str, str]) -> Iterator[None]:
    """Let the engine's errors name fields as the caller wrote them: `names` has the caller's name of each of ours.

    With `{"text": "input"}`, `text must have at most 100000 characters` speaks of `input` and blames it. Of a nested
    field the outermost name is looked up where the whole path is not listed. Prose and what a sentence quotes of the
    request stay as they are: `input must be text; you sent "text".`
    """
    try:
        yield
    except InvalidRequest as error:
        error.args = (reworded(str(error), names),)
        error.field = _renamed(error.field, names)
        raise
    except UnknownModel as error:
        error.field = _renamed(error.field, names)
        raise


def reworded(sentence: str, names: Mapping[str, str]) -> str:
    """The sentence with the names of fields replaced where they stand as such."""
    longest_first = "|".join(sorted(map(re.escape, filter(None, names)), key=len, reverse=True))
    if not longest_first:
        return sentence
    pattern = rf"{_QUOTED}|(?<![\w.])(?P<name>{longest_first})(?!\w)"
    return re.sub(pattern, lambda found: _replacement(found, names), sentence)


def _replacement(found: re.Match[str], names: Mapping[str, str]) -> str:
    name, before = found["name"], found.string[: found.start()]
    if name is None:
        return found[0]
    stands_as_field = "_" in name or not before or before.endswith(_LEADS)
    return names[name] if stands_as_field else name


def _renamed(field: str, names: Mapping[str, str]) -> str:
    if field in names:
        return names[field]
    outermost, dot, rest = field.partition(".")
    return f"{names.get(outermost, outermost)}{dot}{rest}"
