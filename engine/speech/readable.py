"""Which texts a voice that reads English can say."""

import re
import unicodedata
from collections.abc import Iterator
from itertools import islice
from typing import Final

from engine.errors import InvalidRequest
from engine.speech.normalisation import said
from engine.speech.sentences import sentences

_LATIN: Final = frozenset(
    [
        *(
            "LATIN",
            "FULLWIDTH",
            "MATHEMATICAL",
            "DOUBLE-STRUCK",
            "SCRIPT",
            "BLACK-LETTER",
            "MODIFIER",
            "COMBINING",
        ),
        *("FEMININE", "MASCULINE", "MICRO", "KELVIN", "ANGSTROM", "OHM", "PLANCK", "INFORMATION"),
    ]
)
_NAMES: Final = {
    "CJK": "Chinese",
    "HIRAGANA": "Japanese",
    "KATAKANA": "Japanese",
    "KATAKANA-HIRAGANA": "Japanese",
    "HALFWIDTH": "Japanese",
    "HANGUL": "Korean",
}
_STRAY: Final = 1  # foreign letters in all that are passed over
_SHOWN: Final = 20


def check_readable(text: str) -> None:
    """Raise InvalidRequest where letters are of a script that is not read, and where there is nothing to say."""
    foreign = list(islice(_foreign_words(text), 2))
    if foreign and (len(foreign) > _STRAY or len(foreign[0]) > 1 or not _says_something(text)):
        raise InvalidRequest(
            "text",
            f'text has {script(foreign[0][0])} letters ("{foreign[0][:_SHOWN]}"), and the voices here read English in '
            "Latin letters only; translate it, or write it in Latin letters.",
        )
    if not _says_something(text):
        raise nothing_to_say()


def nothing_to_say() -> InvalidRequest:
    """The error for a text that has no sound."""
    return InvalidRequest(
        "text", "text has nothing to say but marks or pictures; write words or numbers in Latin letters."
    )


def script(letter: str) -> str:
    """The script of a letter as people call it: Cyrillic, Greek, Chinese …"""
    name = unicodedata.name(letter, "UNKNOWN").split(" ", 1)[0]
    return _NAMES.get(name, name.capitalize())


def is_foreign(letter: str) -> bool:
    """Whether a character is a letter of another script than Latin."""
    if letter.isascii() or not letter.isalpha():
        return False
    return unicodedata.name(letter, "UNKNOWN").split(" ", 1)[0] not in _LATIN


def _foreign_words(text: str) -> Iterator[str]:
    """Stretches of foreign letters; a Greek letter that stands alone has a name and is none."""
    if text.isascii():
        return
    for match in re.finditer(r"[^\W\d_]+", text):
        letters = "".join(letter for letter in match[0] if is_foreign(letter))
        if letters and not (len(match[0]) == 1 and "α" <= letters.lower() <= "ω"):
            yield letters


def _says_something(text: str) -> bool:
    if not _sounds(text):
        return False
    return any(_sounds(word.spoken) for sentence in sentences(text) for word in said(sentence.text))


def _sounds(word: str) -> bool:
    """Whether a word has a letter of the alphabet, accents aside, or a digit."""
    return re.search(r"[A-Za-z0-9]", unicodedata.normalize("NFKD", word)) is not None or any(
        map(str.isdigit, word)
    )
