"""Numbers and signs in a line of English as the words that are said for them, so that each syllable has its note."""

import re
from collections.abc import Callable
from typing import Final

from engine.speech.normalisation import said

_ONES: Final = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_TENS: Final = ["zero", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_SCALES: Final = ((10**9, "billion"), (10**6, "million"), (1000, "thousand"), (100, "hundred"))
_ORDINALS: Final = {
    "one": "first",
    "two": "second",
    "three": "third",
    "five": "fifth",
    "eight": "eighth",
    "nine": "ninth",
    "twelve": "twelfth",
}
_MONTHS: Final = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
]
_COINS: Final = {"$": ("dollar", "cent"), "£": ("pound", "penny"), "€": ("euro", "cent")}
_MOST_DIGITS: Final = 12  # beyond, digit by digit
_NUMBER: Final = r"\d{1,3}(?:,\d{3})+|\d+"
_SIGNS: Final = re.compile(r"[\d&%$£€+#@=]")
_WORD: Final = re.compile(
    r"(\W*?)((?:[#$£€+\-]|(?<!\w)[.'’])?\d[\d,./]*\d*(?:st|nd|rd|th|s|%)?|[&+%@=])(\W*)"
)


def spoken(line: str) -> str:
    """The line with its numbers and signs written as words; a line in another script stays as it is."""
    if not _SIGNS.search(line):
        return line
    words = [part for word in said(line) for part in word.spoken.split()]
    return " ".join(_word(word) if word.isascii() or "£" in word or "€" in word else word for word in words)


def _word(word: str) -> str:
    found = _WORD.fullmatch(word)
    if not found:
        return word
    before, core, after = found.groups()
    trailing = core[len(core.rstrip(",./")) :]
    core = core.rstrip(",./")
    for pattern, say in _READINGS:
        if match := pattern.fullmatch(core):
            return before + say(match) + trailing + after
    return word


def _cardinal(number: int) -> str:
    if number < 20:
        return _ONES[number]
    if number < 100:
        return _TENS[number // 10] + (f" {_ONES[number % 10]}" if number % 10 else "")
    scale, name = next(pair for pair in _SCALES if number >= pair[0])
    rest = number % scale
    return f"{_cardinal(number // scale)} {name}" + (f" {_cardinal(rest)}" if rest else "")


def _number(digits: str) -> str:
    plain = digits.replace(",", "")
    if len(plain) > _MOST_DIGITS or (len(plain) > 1 and plain[0] == "0"):
        return " ".join(_ONES[int(digit)] for digit in plain)
    return _cardinal(int(plain))


def _year(match: re.Match[str]) -> str:
    high, low = divmod(int(match[1]), 100)
    if high == 20 and low < 10:
        return _cardinal(int(match[1]))
    second = "hundred" if not low else f"oh {_ONES[low]}" if low < 10 else _cardinal(low)
    return f"{_cardinal(high)} {second}"


def _ordinal(number: int) -> str:
    *first, last = _cardinal(number).split()
    last = _ORDINALS.get(last) or (last[:-1] + "ieth" if last.endswith("y") else last + "th")
    return " ".join([*first, last])


def _plural(word: str) -> str:
    return word[:-1] + "ies" if word.endswith("y") else word + ("es" if word.endswith("x") else "s")


def _many(match: re.Match[str]) -> str:
    """`80s` and `1980s`."""
    year = re.fullmatch(r"(\d{4})", match[1])
    *first, last = (_year(year) if year else _number(match[1])).split()
    return " ".join([*first, _plural(last)])


def _money(match: re.Match[str]) -> str:
    coin, part = _COINS[match[1]]
    whole = _number(match[2]) + f" {coin}" + ("" if match[2] == "1" else "s")
    if not match[3]:
        return whole
    cents = int(match[3])
    small = part if cents == 1 else "pence" if part == "penny" else part + "s"
    return f"{whole} and {_cardinal(cents)} {small}" if cents else whole


def _fraction(match: re.Match[str]) -> str:
    first, second = int(match[1]), int(match[2])
    if (first, second) == (1, 2):
        return "one half"
    if 1 <= first <= 12 and 1 <= second <= 31:
        return f"{_MONTHS[first - 1]} {_ordinal(second)}"
    return f"{_number(match[1])} {_number(match[2])}"


def _decimal(match: re.Match[str]) -> str:
    digits = " ".join(_ONES[int(digit)] for digit in match[2])
    return f"{_number(match[1])} point {digits}"


_Say = Callable[[re.Match[str]], str]
_READINGS: Final[tuple[tuple[re.Pattern[str], _Say], ...]] = tuple(
    (re.compile(pattern), say)
    for pattern, say in (
        (r"&", lambda _: "and"),
        (r"\+", lambda _: "plus"),
        (r"%", lambda _: "percent"),
        (r"@", lambda _: "at"),
        (r"=", lambda _: "equals"),
        (rf"([$£€])({_NUMBER})(?:\.(\d\d))?", _money),
        (rf"#({_NUMBER})", lambda match: f"number {_number(match[1])}"),
        (rf"({_NUMBER})%", lambda match: f"{_number(match[1])} percent"),
        (r"(\d{1,6})(?:st|nd|rd|th)", lambda match: _ordinal(int(match[1]))),
        (r"['’]?(\d{2}|\d{4})s", _many),
        (r"['’](\d{2})", lambda match: _number(match[1])),
        (r"(1[1-9]\d\d|20\d\d)", _year),
        (r"(\d{1,2})/(\d{1,2})", _fraction),
        (rf"({_NUMBER})\.(\d+)", _decimal),
        (rf"-({_NUMBER})", lambda match: f"minus {_number(match[1])}"),
        (rf"\+({_NUMBER})", lambda match: f"plus {_number(match[1])}"),
        (rf"({_NUMBER})", lambda match: _number(match[1])),
    )
)
