"""Which writing the singer can read: Latin letters, as English has them, and digits."""

from collections import Counter
from unicodedata import name

_SCRIPTS = {
    "CJK": "Chinese characters",
    "HIRAGANA": "Japanese",
    "KATAKANA": "Japanese",
    "HANGUL": "Korean",
    "CYRILLIC": "Cyrillic",
    "GREEK": "Greek",
    "ARABIC": "Arabic",
    "HEBREW": "Hebrew",
    "THAI": "Thai",
    "DEVANAGARI": "Devanagari",
}


def singable(text: str) -> bool:
    """True where most of the letters are Latin, or digits, and there is one at all."""
    letters = [letter for letter in text if letter.isalnum()]
    return bool(letters) and 2 * sum(map(_latin, letters)) > len(letters)


def missing_scripts(text: str) -> tuple[str, ...]:
    """The scripts of the letters beyond the Latin ones, by the names a reader knows, the most frequent first.

    Chinese characters among kana are Japanese.
    """
    found = Counter(_script(letter) for letter in text if letter.isalpha() and not _latin(letter))
    if "Japanese" in found:
        found["Japanese"] += found.pop("Chinese characters", 0)
    return tuple(name for name, _ in found.most_common())


def _latin(letter: str) -> bool:
    return letter.isascii() or name(letter, "").startswith("LATIN")


def _script(letter: str) -> str:
    word = name(letter, "another script").split(" ")[0].split("-")[0]
    return _SCRIPTS.get(word, word.capitalize())
