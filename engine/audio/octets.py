"""A file looked at here and there, a piece of it in memory, and the tags that programs put into audio files.

Formats: ID3v1 and ID3v2 (id3.org), APE tags version 2.
"""

import re
import struct
from collections.abc import Iterator
from typing import BinaryIO, Final

_BUFFER: Final = 2**18
_ID3_FOOTER, _APE_HEADER = 0x10, 1 << 29  # among the flags


class Octets:
    """A file's octets by their place; owns the piece that was looked at last, and the file's place."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._piece = b""
        self._start = 0
        self.size = file.seek(0, 2)

    def some(self, place: int, count: int) -> bytes:
        """Up to `count` octets, no more than 64 KiB, from a place on; fewer at the end."""
        offset = place - self._start
        if offset < 0 or offset + count > len(self._piece):
            self._start, offset = self._file.seek(place), 0
            self._piece = self._file.read(_BUFFER)
        return self._piece[offset : offset + count]

    def number(self, place: int) -> int:
        """The four octets at a place as a number, the first counting most; 0 where there are fewer."""
        four = self.some(place, 4)
        return int.from_bytes(four, "big") if len(four) == 4 else 0

    def matches(self, pattern: bytes, place: int) -> Iterator[int]:
        """Where something of a few octets is found from a place on."""
        step = _BUFFER // 4
        for start in range(place, self.size, step):
            for match in re.finditer(pattern, self.some(start, step + 8)):
                if match.start() < step:
                    yield start + match.start()

    def behind_tags(self, place: int) -> int:
        """The place behind the tags that begin at a place."""
        while size := self._tag_size(self.some(place, 32)):
            place += size
        return place

    def _tag_size(self, octets: bytes) -> int:
        if octets[:3] == b"TAG":
            return 128
        if octets[:3] == b"ID3" and len(octets) >= 10:
            footer = 10 if octets[5] & _ID3_FOOTER else 0
            return (
                10 + sum((octet & 0x7F) << 7 * (9 - at) for at, octet in enumerate(octets[6:10], 6)) + footer
            )
        if octets[:8] == b"APETAGEX" and len(octets) == 32:
            size, _, flags = struct.unpack_from("<III", octets, 12)
            return 32 + (int(size) if flags & _APE_HEADER else 0)
        return 0
