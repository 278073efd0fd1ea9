"""Files of a repository into a folder: whole, checked, and from where an earlier run was interrupted.

A file grows beside its place under a name that tells its content, so that what is there after Ctrl-C, a kill or a
power cut is the beginning of just this file. It takes its place only when its digest is right.
"""

import fcntl
import hashlib
import os
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

from server.commands.hub_errors import FolderBusy, HubUnreachable, WrongDigest
from server.commands.model_files import Digest, Listing, RemoteFile
from server.commands.source_answers import Body, BrokenTransfer

PAUSES_SECONDS = (1.0, 2.0, 4.0, 8.0, 15.0, 30.0)  # between attempts that bring nothing
ATTEMPTS = 2  # to fetch a file whose content is right
SLICE_BYTES = 4 * 1024 * 1024


def missing_bytes(folder: Path, listing: Listing) -> int:
    """How much of a listing is to be fetched into a folder; what earlier runs have left there counts."""
    return sum(file.size_bytes - _held(folder, file) for file in listing.files)


class Source(Protocol):
    """Where the bytes come from."""

    def opened(self, listing: Listing, file: RemoteFile, offset: int) -> AbstractContextManager[Body]:
        """The file's bytes from the offset on, or from 0."""


class Watcher(Protocol):
    """Who is told how far it is."""

    def moved(self, name: str, count: int) -> None:
        """So many bytes of that file more (or fewer: they are to be fetched again)."""

    def checked(self, name: str, fraction: float) -> None:
        """How far the checking of a file is, 0 to 1."""

    def waiting(self, seconds: float, reason: str) -> None:
        """Nothing moves for so long, and why."""


class Fetching:
    """Fetches the files of one listing into one folder; owns the unfinished files there."""

    def __init__(
        self,
        source: Source,
        listing: Listing,
        folder: Path,
        watcher: Watcher,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        self._source = source
        self._listing = listing
        self._folder = folder
        self._watcher = watcher
        self._pause = pause

    def fetch(self, file: RemoteFile) -> None:
        """Have the file in its place, its digest checked. Raises PullError, OSError.

        What has been fetched stays for the next run, also when this one is interrupted.
        """
        target = self._folder / file.path
        target.parent.mkdir(parents=True, exist_ok=True)
        for _ in range(ATTEMPTS):
            with _held_alone(self._part(file)) as sink:
                if self._is_at_hand(file, target):  # perhaps since a moment ago, by another pull
                    self._part(file).unlink()
                    return
                self._fill(sink, file)
                if self._digest(self._part(file), file) == file.digest:
                    os.fsync(sink.fileno())
                    self._part(file).replace(target)
                    return
                self._start_again(sink, file)
        raise WrongDigest(
            f"{file.path} came twice with another content than {self._listing.repo} promises; a proxy or a "
            "mirror may have changed it. Run this again later, or without HF_ENDPOINT."
        )

    def _is_at_hand(self, file: RemoteFile, target: Path) -> bool:
        """Whether the file is there; one of the right size and another content is removed."""
        if not target.is_file() or _size(target) != file.size_bytes:
            return False
        if self._digest(target, file) == file.digest:
            return True
        target.unlink()
        self._watcher.moved(file.path, -file.size_bytes)
        return False

    def _fill(self, sink: BinaryIO, file: RemoteFile) -> None:
        """Append until the file has its size; as long as it gets further than ever, breaks are borne."""
        if _length(sink) > file.size_bytes:
            self._start_again(sink, file)
        futile, most = 0, _length(sink)
        while (held := _length(sink)) != file.size_bytes:
            reason = self._append(sink, file, held)
            if (came := _length(sink)) == file.size_bytes:
                return
            futile = 0 if came > most else futile + 1
            most = max(most, came)
            if futile > len(PAUSES_SECONDS):
                raise HubUnreachable(f"{reason} Nothing came in {futile} attempts; run this again later.")
            seconds = PAUSES_SECONDS[max(futile - 1, 0)]
            self._watcher.waiting(seconds, reason)
            self._pause(seconds)

    def _append(self, sink: BinaryIO, file: RemoteFile, held: int) -> str:
        """Add what comes of one request, and nothing beyond the file's size; why it broke off, where it did."""
        try:
            with self._source.opened(self._listing, file, held) as body:
                if body.offset != held:
                    self._start_again(sink, file)
                room = file.size_bytes - _length(sink)
                for chunk in body.chunks:
                    written = sink.write(chunk[:room])
                    self._watcher.moved(file.path, written)
                    room -= written
                    if not room:
                        break
        except BrokenTransfer as error:
            return str(error)
        return f"The hub sent another length of {file.path} than it told."

    def _start_again(self, sink: BinaryIO, file: RemoteFile) -> None:
        self._watcher.moved(file.path, -_length(sink))
        sink.truncate(0)

    def _digest(self, path: Path, file: RemoteFile) -> Digest:
        done = 0
        for count in (calculation := Hashing(path, file.digest.kind)).steps():
            done += count
            self._watcher.checked(file.path, done / max(file.size_bytes, 1))
        return calculation.digest

    def _part(self, file: RemoteFile) -> Path:
        return _part(self._folder, file)


class Hashing:
    """The digest of a file, calculated step by step."""

    def __init__(self, path: Path, kind: str) -> None:
        self._path = path
        self._kind = kind
        self._state = hashlib.sha256() if kind == "sha256" else hashlib.sha1(usedforsecurity=False)

    def steps(self) -> Iterator[int]:
        """Read the file slice by slice; the bytes of each."""
        if self._kind == "git":  # as `git hash-object` counts
            self._state.update(b"blob %d\0" % _size(self._path))
        with self._path.open("rb") as file:
            while slice := file.read(SLICE_BYTES):
                self._state.update(slice)
                yield len(slice)

    @property
    def digest(self) -> Digest:
        """What has come of it."""
        return Digest(self._kind, self._state.hexdigest())


@contextmanager
def _held_alone(part: Path) -> Iterator[BinaryIO]:
    """The unfinished file, to append to; FolderBusy while another process has it."""
    while True:
        # Never through a link that somebody has put there.
        opened = os.open(part, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
        with os.fdopen(opened, "ab") as sink:
            try:
                fcntl.flock(sink, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise FolderBusy(
                    f"Another pull is fetching {part.parent}; wait for it, or name another folder with --into."
                ) from None
            if _is_still(part, sink):
                yield sink
                return


def _is_still(part: Path, sink: BinaryIO) -> bool:
    """Whether the open file is the one of that name: another pull may have finished it before it was locked."""
    try:
        return os.path.samestat(part.stat(), os.fstat(sink.fileno()))
    except FileNotFoundError:
        return False


def _part(folder: Path, file: RemoteFile) -> Path:
    """Where the file grows: a name that changes with its content."""
    target = folder / file.path
    return target.with_name(f".{target.name}.{file.digest.hex[:16]}.part")


def _held(folder: Path, file: RemoteFile) -> int:
    """Bytes of the file that are there, in its place or on the way."""
    if _size(folder / file.path) == file.size_bytes:
        return file.size_bytes
    return min(_size(_part(folder, file)), file.size_bytes)


def _length(sink: BinaryIO) -> int:
    sink.flush()
    return os.fstat(sink.fileno()).st_size


def _size(path: Path) -> int:
    """Bytes of a file; 0 where there is none."""
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
