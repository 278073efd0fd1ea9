"""A finished song as one body: `multipart/mixed` (RFC 2046 §5.1.3) written part by part into a seekable file."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

from storage.entry import Part


class MultipartWriter:
    """Writes parts one after another and remembers the span of each, so that one can be read alone.

    Owner of its place in the file. The boundary holds the job's own random id, so no part can contain it by accident.
    """

    def __init__(self, sink: BinaryIO, job_id: str) -> None:
        self._sink = sink
        self._boundary = f"yue2-{job_id}"
        self._parts: list[Part] = []

    @property
    def content_type(self) -> str:
        """Content type of the whole body."""
        return f"multipart/mixed; boundary={self._boundary}"

    @contextmanager
    def part(
        self, name: str, track: int, content_type: str, filename: str, seconds: float | None = None
    ) -> Iterator[BinaryIO]:
        """Open a part; what the block writes to the file it is given is the part's body."""
        head = (
            f"--{self._boundary}\r\nContent-Type: {content_type}\r\n"
            f'Content-Disposition: attachment; filename="{filename}"\r\n\r\n'
        )
        self._sink.write(head.encode("ascii"))
        start = self._sink.tell()
        yield self._sink
        end = self._sink.seek(0, io.SEEK_END)
        self._sink.write(b"\r\n")
        self._parts.append(Part(name, track, content_type, start, end - start, seconds, filename))

    def finish(self) -> tuple[Part, ...]:
        """Close the body and give the spans of its parts."""
        self._sink.write(f"--{self._boundary}--\r\n".encode("ascii"))
        return tuple(self._parts)
