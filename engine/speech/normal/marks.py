"""Marks that are for the eye: markup, addresses, emoji, quotation marks of all countries, mathematical signs."""

import re
import unicodedata
from typing import Final

from engine.speech.normal.rule import GLUE, Rule, rule

_SIGNS: Final = {
    "≤": "is at most",
    "≥": "is at least",
    "≠": "is not equal to",
    "≈": "is about",
    "∞": "infinity",
    "√": "square root of",
    "‰": "per mille",
    "⇒": "to",
    "−": "minus",
    "№": "number",
    "♭": "flat",
    "♯": "sharp",
}
_ADDRESS_SIGNS: Final = {
    ".": "dot",
    "/": "slash",
    "-": "dash",
    "_": "underscore",
    "@": "at",
    ":": "colon",
    "~": "tilde",
    "+": "plus",
    "%": "percent",
}
MARKED: Final = (  # letters that hibari's networks for unknown words read
    "ÀÁÂÃÄÅÆÇÉÊÌÍÎÏÑÒÓÔÕÖØÚÜÞßàáâãäåæçèéêëìíîïðñòóôõöøùúûüýþÿĀāĂăąĆćČčĎďĐđĒēĕĖėęěĝĞğġģīĭİıķļĽľŁłńņňŋŌōŏőŒœŘřŚśŞşŠšţťūŭŮůŰų"
    "ŵźŻżŽžƒơưǎǐǒǔǚșțɑɒɓəɛʃ"
)
_TOP: Final = "com|org|net|edu|gov|io|co|uk|de|fr|info|biz|us|ca|au|tv|me|ly|ai|dev|app|eu|ch|at|nl"
_KINDS: Final = (  # of files
    "NET|com|org|net|edu|gov|txt|csv|pdf|docx?|xlsx?|pptx?|jpe?g|png|gif|mp[34]|wav|zip|exe|js|ts|py|html?|css|json|xml|env|"
    "md|dll|svg|ini|ya?ml|toml|sh|git\\w{0,6}"
)
_TAIL: Final = r"(?=[.,;:!?)\]\"'”’]*(?:\s|$))"
_EMOTICON: Final = r"(?:[:;=8]['-]?[)(DPpOo3|/\\\]\[*]|<3|\^_\^|[xX]D)"


def _address(match: re.Match[str]) -> str:
    words = re.sub(
        r"[./\-_@:~+%]", lambda sign: f"{GLUE}{_ADDRESS_SIGNS[sign[0]]}{GLUE}", match["address"].rstrip("/")
    )
    return re.sub(rf"{GLUE}+", GLUE, words).strip(GLUE)


def _sign(match: re.Match[str]) -> str:
    return f"{GLUE}{_SIGNS[match[0]].replace(' ', GLUE)}{GLUE}"


def _greek(match: re.Match[str]) -> str:
    return unicodedata.name(match[0], "").rsplit(" ", 1)[-1].lower().replace("lamda", "lambda")


def _link(match: re.Match[str]) -> str:
    """The text alone; its address may not hold spaces, so that all words stay in their places."""
    return match["text"]


MARKS: Final[tuple[Rule, ...]] = (
    rule(r"!?\[(?P<text>[^\]\[]*)\]\([^)\s]*\)", _link),
    rule(r"</?[A-Za-z][^<>\s]*/?>", ""),
    rule(r"^(?:#{1,6}|[-*+•‣▪●○–—]|>+)(?= )", ""),
    rule(r"^(?:```\S*|[-*_=]{3,})$", ""),
    rule(r"\*\*(?=\S)|(?<=\S)\*\*|__(?=\S)|(?<=\S)__|~~|`+", ""),
    rule(r"(?<![\w*])\*(?=[^\s*])|(?<=[^\s*])\*(?![\w*])|(?<!\w)_(?=[^\s_])|(?<=[^\s_])_(?!\w)", ""),
    rule(rf"(?<!\S){_EMOTICON}{_TAIL}", ""),
    rule(
        rf"(?<!\S)[(\"“‘']?(?:(?:https?|ftp)://)(?:www\.)?(?P<address>[\w.\-~/:%+@]*[\w/])(?:[?#]\S*?)?{_TAIL}",
        _address,
    ),
    rule(rf"(?<!\S)www\.(?P<address>[\w.\-~/%+]*[\w/])(?:[?#]\S*?)?{_TAIL}", _address),
    rule(r"(?<![\w@])(?P<address>[A-Za-z][\w.+-]*@[\w-]+(?:\.[\w-]+)+)(?![\w@])", _address),
    rule(
        rf"(?<![\w@.])(?P<address>[A-Za-z][\w-]*(?:\.[\w-]+)*\.(?:{_TOP})(?:/[\w.\-~/%+]*[\w/])?)(?![\w@])",
        _address,
    ),
    rule(rf"(?<=[\w-])\.(?=(?:{_KINDS})(?!\w))", "_dot_"),
    rule(rf"(?<![\w.])\.(?=(?:{_KINDS})(?!\w))", "dot_"),
    rule(r"(?<!\S)‘(?P<quoted>[^‘’]*(?:’\w[^‘’]*)*)’(?!\w)", r"“\g<quoted>”"),
    rule(r"[«„‟]", "“"),
    rule("»", "”"),
    rule(r"(?<!\w)[α-ωΑ-Ω](?!\w)", _greek),
    rule("|".join(_SIGNS), _sign),
    rule(r"(?<=\b[A-G])#(?!\w)", "_sharp"),
    rule(r"&(?:amp|#38);", "&"),
    rule(r"&(?:nbsp|quot|lt|gt|#39);", ""),
)


def drawn(letter: str) -> bool:
    """Whether a character is a picture, or only says how others look; such are not said."""
    if letter in "\t\n ":
        return False
    kind = unicodedata.category(letter)
    if kind in ("So", "Sk"):
        return ord(letter) >= 0x2100 and letter not in "℃℉№™♭♯"
    return kind in ("Cc", "Cf", "Co", "Cn", "Cs", "Mn", "Me")


def plain(text: str) -> str:
    """The text without pictures and controls, letters of fancy shapes as the letters that they are."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        "" if drawn(letter) else _ordinary(letter) for letter in unicodedata.normalize("NFC", text)
    )


def _ordinary(letter: str) -> str:
    if letter.isascii() or letter in "²³":
        return letter
    if letter.isdigit():
        return str(unicodedata.digit(letter))
    if not (letter.isalpha() or letter in "℃℉"):
        return letter
    if letter in MARKED:
        return letter
    simple = unicodedata.normalize("NFKD", letter)
    base = "".join(part for part in simple if not unicodedata.combining(part))
    return base if base.replace("°", "").isascii() and " " not in base else letter
