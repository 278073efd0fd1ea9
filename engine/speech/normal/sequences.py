"""Numbers side by side: telephone numbers, lists, ranges and scores, dates with hyphens."""

import re
from typing import Final

from engine.speech.normal.rule import GLUE, Rule, rule

_N: Final = r"\d+(?:,\d{3})*(?:\.\d+)?"
_ALONE: Final = r"(?<![\w.,:/$£€¥₹–-])"  # no number nor hyphen before
_OVER: Final = r"(?![–-]?\w*\d|[–-]\w|[:/]\d|[.,]\d)"  # nor after
_PHONE: Final = (
    r"(?<![\w.\-])(?:\+?\d{1,3}[ -.])?(?:\(\d{3}\) ?|\d{3}[-.])\d{3}[-.]\d{4}(?![\w\-])",
    r"(?<!\w)\+\d{1,3}(?: \d{2,5}){2,5}(?!\w)",
    r"(?<!\w)0\d{1,4}(?: \d{3,4}){2}(?!\w)",
    r"(?<![\w.,$£€¥₹–-])(?:[2-9]\d\d-(?!\d\d00)|\d{5}-)\d{4}(?![\w–-]|[.,]\d)",
    r"(?<![\w.,–-])\d{3}-\d\d-\d{4}(?![\w–-])",
    r"(?i:(?<=call )|(?<=dial )|(?<=called )|(?<=dialed )|(?<=calling )|(?<=dialing ))[2-9]11(?![\w–-])",
)
_ONE_NUMBER: Final = re.compile(  # with commas as most people write them, or as in India
    r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d{1,2}(?:,\d{2})+,\d{3}(?:\.\d+)?"
)


def _digits(match: re.Match[str]) -> str:
    """Digit by digit, with a breath between groups; a code of three digits in brackets is a group too."""
    spaced = re.sub(r"(?<=\d)[-.)]+(?=\d)", f",{GLUE}", match[0].replace("(", "").replace(") ", ", "))
    spaced = re.sub(r"(?<=\d) (?=\d)", ", ", spaced)
    return re.sub(r"(?<=\d)(?=\d)", GLUE, spaced).replace("+", f"plus{GLUE}")


def _listed(match: re.Match[str]) -> str:
    return match[0] if _ONE_NUMBER.fullmatch(match[0]) else match[0].replace(",", f",{GLUE}")


def _dated(match: re.Match[str]) -> str:
    month, day = sorted((int(match["month"]), int(match["day"])))
    return match[0].replace("-", "/") if 1 <= month <= 12 and day <= 31 else match[0]


def _chained(match: re.Match[str]) -> str:
    """Numbers one by one; what may be a date, the year first, is left to those who know dates."""
    parts = re.split("[–-]", match[0])
    if len(parts) == 3 and len(parts[0]) == 4 and 1 <= int(parts[1]) <= 12 and 1 <= int(parts[2]) <= 31:
        return f"{parts[0]}-{int(parts[1]):02}-{int(parts[2]):02}"
    return f",{GLUE}".join(parts)


SEQUENCES: Final[tuple[Rule, ...]] = (
    rule("|".join(_PHONE), _digits),
    rule(r"(?<![\d.,])\d+(?:\.\d+)?(?:,\d+(?:\.\d+)?)+", _listed),
    rule(r"(?<![\w.,/–-])(?P<month>\d{1,2})-(?P<day>\d{1,2})-(?:19|20)\d\d(?![\w/–-]|[.,]\d)", _dated),
    rule(r"(?<![\w.,/–-])\d+(?:[–-]\d+){2,}(?![\w/–-]|[.,:]\d)", _chained),
    rule(r"(?<![\w.,/–-])24-7(?![\w/–-]|[.,]\d)", "24_7"),
    rule(r"(?<![\w.,/–-])(?P<part>50|20)[–-](?P=part)(?![\w/–-]|[.,]\d)", r"\g<part>_\g<part>"),
    rule(
        rf"(?P<sign>[$£€])(?P<from>{_N})[–-](?:(?P=sign))?(?P<to>{_N}){_OVER}", r"\g<from>_to_\g<sign>\g<to>"
    ),
    rule(rf"{_ALONE}(?P<from>{_N})[–-](?P<to>{_N}){_OVER}", r"\g<from>_to_\g<to>"),
    rule(
        rf"{_ALONE}(?P<from>{_N})(?P<before> )[–−-](?P<after> )(?=(?P<to>{_N}) =)",
        r"\g<from>\g<before>minus\g<after>",
    ),
    rule(
        rf"{_ALONE}(?P<from>{_N})(?P<before> )[–-](?P<after> )(?=(?P<to>{_N}){_OVER})",
        r"\g<from>\g<before>to\g<after>",
    ),
)
