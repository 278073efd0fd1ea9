"""New files that appear whole or not at all, and never in another's place."""

import os
from contextlib import suppress
from pathlib import Path


class NewFile:
    """Owner of a file that is written beside its place until it is published; a sink of downloads.

    `mark` tells concurrent writers apart. Raises OSError where the folder cannot be written to.
    """

    def __init__(self, path: Path, mark: str) -> None:
        self._path = path
        self._beside = path.with_name(f".{mark}.part")
        self._file = self._beside.open("xb", buffering=0)

    def write(self, chunk: bytes) -> None:
        """Take the next bytes. Raises OSError, of a full disk too."""
        rest = memoryview(chunk)
        while rest:
            rest = rest[self._file.write(rest) :]

    def publish(self) -> None:
        """Bring what was written to the disk, then give it its name. Raises FileExistsError, OSError."""
        os.fsync(self._file.fileno())
        self._name()
        # From here on it is there, whole, and "not saved" would be untrue: folders that cannot be read, and some file systems,
        # take no such order, and what may be lost without it is the name alone, if the power fails right now.
        with suppress(OSError):
            self._sync_folder()

    def discard(self) -> None:
        """Close it, and remove what was not published; safe to repeat."""
        self._file.close()
        self._beside.unlink(missing_ok=True)

    def _sync_folder(self) -> None:
        folder = os.open(self._path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)

    def _name(self) -> None:
        """A rename would put it in another's place without a word; a link does not."""
        try:
            os.link(self._beside, self._path)
        except FileExistsError:
            raise
        except OSError:  # some file systems have no links: there the name is taken first, by an empty file
            self._path.open("xb").close()
            try:
                self._beside.replace(self._path)
            except OSError:
                self._path.unlink()
                raise
            return
        self._beside.unlink()
