"""Parts of a file as a file of their own."""

import io
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate
from typing import BinaryIO


class Spliced:
    """Some octets, then spans (start, end) of a file, to be read as one file; owns the place in it."""

    def __init__(self, head: bytes, file: BinaryIO, spans: Sequence[tuple[int, int]]) -> None:
        self._parts = [(io.BytesIO(head), 0), *((file, start) for start, _ in spans)]
        self._edges = [0, *accumulate([len(head), *(end - start for start, end in spans)])]
        self._place = 0

    def tell(self) -> int:
        """The place."""
        return self._place

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go to a place, which may lie behind the end."""
        origin = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self._edges[-1]}[whence]
        self._place = max(0, origin + offset)
        return self._place

    def read(self, size: int = -1) -> bytes:
        """Up to `size` octets, fewer only at the end; all that follow where it is negative."""
        left = self._edges[-1] - self._place
        wanted = left if size < 0 else min(size, left)
        pieces = []
        while wanted > 0:
            nth = bisect_right(self._edges, self._place) - 1
            file, start = self._parts[nth]
            file.seek(start + self._place - self._edges[nth])
            piece = file.read(min(wanted, self._edges[nth + 1] - self._place))
            if not piece:
                break
            pieces.append(piece)
            self._place += len(piece)
            wanted -= len(piece)
        return b"".join(pieces)
