"""Names of a song's sections as comments of the score (`% verse`)."""

import re

_NAME = re.compile(r"[^\W\d_][\w '\-]{0,39}")
_UNWRITABLE = re.compile(r"[^\w '\-]|_")
_KNOWN = re.compile(
    r"intro|introduction|verse|pre|prechorus|chorus|post|postchorus|bridge|interlude|outro|hook|refrain|solo|break"
    r"|breakdown|drop|build|instrumental|inst|coda|ending|end|tag|vamp"
)


def section_of_comment(text: str, known_only: bool) -> str:
    """The section that a whole-line comment names, or the empty string.

    With `known_only`, a comment must begin with one of the usual names, since ordinary tunes have other comments too.
    """
    name = text.strip().strip("[]").removesuffix(":").strip()
    if not _NAME.fullmatch(name):
        return ""
    first = re.split(r"[\W\d_]", name.lower(), maxsplit=1)[0]
    return "" if known_only and not _KNOWN.fullmatch(first) else name


def written_section(name: str) -> str:
    """The name as a comment can hold it; empty where nothing of it can be kept."""
    kept = " ".join(_UNWRITABLE.sub(" ", name).split()).lstrip("0123456789 '-")
    return kept[:40].rstrip()
