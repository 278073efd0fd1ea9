"""Names of files, made of titles. Pure."""

import re
import unicodedata
from typing import Final

MAX_STEM_CHARACTERS: Final = 60
_UNSAFE: Final = re.compile(r"[^a-z0-9]+")
_DEVICES: Final = re.compile(r"con|prn|aux|nul|(com|lpt)[0-9]")
# What has no letter of ASCII inside it that decomposing would leave, and marks that part no words.
_SPELLED: Final = str.maketrans(
    {
        "ß": "ss",
        "æ": "ae",
        "œ": "oe",
        "ø": "o",
        "đ": "d",
        "ð": "d",
        "þ": "th",
        "ł": "l",
        "ħ": "h",
        "ı": "i",
        "'": "",
        "\N{RIGHT SINGLE QUOTATION MARK}": "",
        "\N{MODIFIER LETTER APOSTROPHE}": "",
    }
)


def stem_of(title: str, otherwise: str) -> str:
    """A file's name without its ending, of lower-case ASCII letters, digits and hyphens: safe on every system.

    `otherwise` where nothing of the title can be spelled so; behind a hyphen after what Windows takes for a device.
    """
    spelled = unicodedata.normalize("NFKD", title.lower().translate(_SPELLED)).encode("ascii", "ignore")
    stem = _UNSAFE.sub("-", spelled.decode().lower()).strip("-")[:MAX_STEM_CHARACTERS].rstrip("-")
    return f"{stem}-{otherwise}" if _DEVICES.fullmatch(stem) else stem or otherwise
