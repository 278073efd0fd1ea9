"""Ogg pages given a fixed serial number: the encoder draws one at random, and equal songs shall be equal files.

Format: RFC 3533. Its checksum is CRC-32 with polynomial 0x04c11db7, most significant bit first, start and end at 0.
"""

import struct
import zlib

_SERIAL = struct.pack("<I", 0x59554532)
_HEADER_BYTES = 27
_REVERSED = bytes(int(f"{octet:08b}"[::-1], 2) for octet in range(256))


def checksum(page: bytes) -> int:
    """CRC of a page whose checksum field is zero.

    zlib's CRC has the same polynomial, least significant bit first and both ends inverted: reversing the bits of
    every octet before and of the sum after turns one into the other, at the speed of C.
    """
    mirrored = zlib.crc32(page.translate(_REVERSED), 0xFFFFFFFF) ^ 0xFFFFFFFF
    return int.from_bytes(mirrored.to_bytes(4, "little").translate(_REVERSED), "big")


class PageRewriter:
    """Rewrites pages as they come; owns the bytes of the page that is not yet complete."""

    def __init__(self) -> None:
        self._pending = b""

    def feed(self, octets: bytes) -> bytes:
        """The pages that `octets` completed, rewritten."""
        self._pending += octets
        pages = []
        start = 0
        while (end := self._page_end(start)) <= len(self._pending):
            pages.append(_rewritten(self._pending[start:end]))
            start = end
        self._pending = self._pending[start:]
        return b"".join(pages)

    def _page_end(self, start: int) -> int:
        beyond = len(self._pending) + 1
        if len(self._pending) < start + _HEADER_BYTES:
            return beyond
        table = start + _HEADER_BYTES
        segments = self._pending[start + 26]
        if len(self._pending) < table + segments:
            return beyond
        return table + segments + sum(self._pending[table : table + segments])


def _rewritten(page: bytes) -> bytes:
    blank = page[:14] + _SERIAL + page[18:22] + bytes(4) + page[26:]
    return blank[:22] + struct.pack("<I", checksum(blank)) + blank[26:]
