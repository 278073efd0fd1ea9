"""What tells one logical call from another, and which attempt at it a request is."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Final

RETRY_COUNT_HEADER: Final = "x-stainless-retry-count"
_COUNT: Final = re.compile(r"[0-9]{1,9}", re.ASCII)


def fingerprint(owner: str, method: str, path_and_query: str, sent: Iterable[bytes | memoryview]) -> str:
    """SHA-256 over who asked for what with which body; each piece with its length, so that none runs into the next."""
    digest = hashlib.sha256()
    named = (text.encode(errors="surrogateescape") for text in (owner, method, path_and_query))
    for piece in (*named, *sent):
        view = memoryview(piece).cast("B")
        digest.update(view.nbytes.to_bytes(8, "big"))
        digest.update(view)
    return digest.hexdigest()


def look(owner: str, method: str, path_and_query: str, declared_length: str) -> str:
    """The same over what is known of a request before its body is read."""
    return fingerprint(owner, method, path_and_query, (b"not read", declared_length.encode(errors="replace")))


def attempts_before(headers: Mapping[str, str]) -> int:
    """How often the client has tried this call before; 0 where it does not say."""
    count = headers.get(RETRY_COUNT_HEADER, "").strip()
    return int(count) if _COUNT.fullmatch(count) else 0
