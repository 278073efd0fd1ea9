"""JSON read in slices, so that other threads run meanwhile.

`json.loads` holds the interpreter's lock from the first byte to the last: 150 ms for a dictionary of five megabytes. Here
it is given some hundred members at a time; between them the interpreter may change threads. What comes out is the same.
"""

import codecs
import json
import re
from json import JSONDecodeError
from typing import Final

SLICE: Final = 1 << 14  # characters, which are read in a millisecond
_BLANKS: Final = " \t\n\r"
_BLANK: Final = re.compile(rf"[{_BLANKS}]*+")
_STRING: Final = r'"(?:[^"\\]++|\\.)*+"'
_FLAT: Final = rf'[^"{{}}\[\]]*+(?:{_STRING}[^"{{}}\[\]]*+)*+'
_VALUE: Final = rf'(?:{_STRING}|\{{{_FLAT}\}}|\[{_FLAT}\]|[^"{{}}\[\],{_BLANKS}]++)'
_MEMBERS: Final = re.compile(
    rf"(?:{_STRING}[{_BLANKS}]*+:[{_BLANKS}]*+{_VALUE}[{_BLANKS}]*+,[{_BLANKS}]*+)++", re.DOTALL
)
_ELEMENTS: Final = re.compile(rf"(?:{_VALUE}[{_BLANKS}]*+,[{_BLANKS}]*+)++", re.DOTALL)
_DECODER: Final = json.JSONDecoder()


def loads(octets: bytes) -> object:
    """As `json.loads`, of UTF-8. Raises ValueError; RecursionError for what is nested hundreds of times."""
    pieces = (octets[at : at + SLICE] for at in range(0, len(octets), SLICE))
    text = "".join(codecs.iterdecode(pieces, "utf-8"))
    value, end = _value(text, _past_blanks(text, 0))
    if end != len(text):
        raise JSONDecodeError("Extra data", text, end)
    return value


def _value(text: str, at: int) -> tuple[object, int]:
    """The value that begins there, and where what follows it and its blanks begins."""
    if text.startswith("{", at):
        return _object(text, at)
    if text.startswith("[", at):
        return _array(text, at)
    value, end = _DECODER.raw_decode(text, at)
    return value, _past_blanks(text, end)


def _object(text: str, at: int) -> tuple[dict[str, object], int]:
    found: dict[str, object] = {}
    at, ended = _opened(text, at, "}")
    while not ended:
        while run := _MEMBERS.match(text, at, at + SLICE):
            found.update(json.loads("{" + _without_comma(run[0]) + "}"))
            at = _past_blanks(text, run.end())
        key, at = _key(text, at)
        found[key], at = _value(text, at)
        at, ended = _after(text, at, "}")
    return found, at


def _array(text: str, at: int) -> tuple[list[object], int]:
    found: list[object] = []
    at, ended = _opened(text, at, "]")
    while not ended:
        while run := _ELEMENTS.match(text, at, at + SLICE):
            found.extend(json.loads("[" + _without_comma(run[0]) + "]"))
            at = _past_blanks(text, run.end())
        value, at = _value(text, at)
        found.append(value)
        at, ended = _after(text, at, "]")
    return found, at


def _opened(text: str, at: int, closing: str) -> tuple[int, bool]:
    """Past the bracket that opens, and past the one that closes, where nothing is between them."""
    at = _past_blanks(text, at + 1)
    if text.startswith(closing, at):
        return _past_blanks(text, at + 1), True
    return at, False


def _after(text: str, at: int, closing: str) -> tuple[int, bool]:
    """Past a comma, or past the bracket that closes, and whether it was that one."""
    if not text.startswith((",", closing), at):
        raise JSONDecodeError("Expecting ',' delimiter", text, at)
    return _past_blanks(text, at + 1), text.startswith(closing, at)


def _key(text: str, at: int) -> tuple[str, int]:
    """A member's name, and where its value begins."""
    if not text.startswith('"', at):
        raise JSONDecodeError("Expecting property name enclosed in double quotes", text, at)
    key, at = _DECODER.raw_decode(text, at)
    at = _past_blanks(text, at)
    if not text.startswith(":", at):
        raise JSONDecodeError("Expecting ':' delimiter", text, at)
    return str(key), _past_blanks(text, at + 1)


def _past_blanks(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _without_comma(run: str) -> str:
    return run.rstrip(_BLANKS).removesuffix(",")
