"""The folder of a result store: the names in it and every touch of the disk; it decides nothing.

`<id>.json` is the record of an entry, `<id>.body` its stored body, `.staging-<id>-<n>` anything half-written. Whatever
else lies there belongs to somebody else and is never touched. POSIX only: files are opened relative to the folder's
descriptor and never through a symbolic link.
"""

import errno
import itertools
import os
import re
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from storage.entry import MAX_RECORD_BYTES, Entry
from storage.errors import DiskFull

OUT_OF_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
# Some network file systems cannot sync a folder at all and say so with these; there is nothing more to do then.
NO_FOLDER_SYNC = frozenset({errno.EBADF, errno.EINVAL})
_ID = re.compile(r"\b([0-9a-f]{6})[0-9a-f]{10}\b")
OUR_NAME = re.compile(
    r"(?P<body>[0-9a-f]{16})\.body|(?P<record>[0-9a-f]{16})\.json|\.staging-(?P<staged>[0-9a-f]{16})-[0-9]+"
)


@contextmanager
def full_disk_named() -> Iterator[None]:
    """Turn an operating system's words for a full volume into DiskFull; other errors pass."""
    try:
        yield
    except OSError as error:
        if error.errno in OUT_OF_SPACE:
            raise DiskFull from error
        raise


@dataclass(frozen=True, slots=True)
class Listing:
    """Our files in the folder: ids of the records, sizes in bytes of the bodies by id, sizes of the staged by name."""

    records: frozenset[str]
    bodies: dict[str, int]
    staged: dict[str, int]


class Folder:
    """Owner of nothing but the next staging number; each call opens the folder anew, so no descriptor stays behind."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._numbers = itertools.count()

    def create(self) -> None:
        """Make the folder and its parents where they are missing, durably; DiskFull."""
        with full_disk_named():
            make_folder(self.directory)

    def list(self) -> Listing:
        """Our regular files; links, folders and foreign names are left out."""
        records: set[str] = set()
        bodies: dict[str, int] = {}
        staged: dict[str, int] = {}
        with os.scandir(self.directory) as found:
            for file in found:
                name = OUR_NAME.fullmatch(file.name)
                if name is None or not file.is_file(follow_symlinks=False):
                    continue
                if name["record"]:
                    records.add(name["record"])
                elif name["body"]:
                    bodies[name["body"]] = file.stat(follow_symlinks=False).st_size
                else:
                    staged[file.name] = file.stat(follow_symlinks=False).st_size
        return Listing(frozenset(records), bodies, staged)

    def read_record(self, id: str) -> Entry:
        """The entry in the record of this id; ValueError where the file is not its record, OSError."""
        with self._opened() as at, os.fdopen(_open_regular(at, record_name(id)), "rb") as file:
            entry = Entry.from_json(file.read(MAX_RECORD_BYTES))
        if entry.id != id:
            raise ValueError("The record belongs to another entry.")
        return entry

    def write_record(self, entry: Entry, *, new: bool = False) -> None:
        """Write or replace a record, whole and durably. DiskFull; ValueError for an unfit detail.

        After an error a `new` record is not there; a replaced one is the old or the new, never a mixture.
        """
        raw = entry.to_json()
        with full_disk_named(), self._opened() as at, ExitStack() as undo:
            draft = self._write_draft(at, entry.id, raw)
            undo.callback(_remove, at, draft)
            os.replace(draft, record_name(entry.id), src_dir_fd=at, dst_dir_fd=at)
            undo.pop_all()
            if new:
                undo.callback(_remove, at, record_name(entry.id))
            _sync(at)
            undo.pop_all()

    def publish(self, staged_name: str, stored: Entry) -> None:
        """Make a synced staged file the body of `stored` and replace its record; DiskFull leaves no body behind.

        The body is durable under its name before the record says so: a record that says stored always has its body.
        """
        raw = stored.to_json()
        with full_disk_named(), self._opened() as at, ExitStack() as undo:
            draft = self._write_draft(at, stored.id, raw)
            undo.callback(_remove, at, draft)
            os.rename(staged_name, body_name(stored.id), src_dir_fd=at, dst_dir_fd=at)
            undo.callback(_remove, at, body_name(stored.id))
            _sync(at)
            os.replace(draft, record_name(stored.id), src_dir_fd=at, dst_dir_fd=at)
            _sync(at)
            undo.pop_all()

    def stage(self, id: str) -> tuple[str, int]:
        """Make an empty staged file; its name and a descriptor that the caller closes. DiskFull."""
        with full_disk_named(), self._opened() as at:
            return self._create(at, id)

    def open_body(self, id: str, size: int) -> int:
        """A read-only descriptor of a body, which the caller closes.

        FileNotFoundError; ValueError where it is no regular file of `size` bytes.
        """
        with self._opened() as at, ExitStack() as undo:
            fd = _open_regular(at, body_name(id))
            undo.callback(os.close, fd)
            if os.fstat(fd).st_size != size:
                raise ValueError("The stored body has another size than its record says.")
            undo.pop_all()
            return fd

    def remove(self, name: str) -> None:
        """Unlink a file of ours; one that is gone already is no error."""
        with self._opened() as at:
            _remove(at, name)

    def remove_record(self, id: str) -> None:
        """Unlink a record, durably."""
        with self._opened() as at:
            _remove(at, record_name(id))
            _sync(at)

    def _write_draft(self, at: int, id: str, raw: bytes) -> str:
        with ExitStack() as undo:
            name, fd = self._create(at, id)
            undo.callback(_remove, at, name)
            try:
                write_all(fd, memoryview(raw))
                os.fsync(fd)
            finally:
                os.close(fd)
            undo.pop_all()
            return name

    def _create(self, at: int, id: str) -> tuple[str, int]:
        name = f".staging-{id}-{next(self._numbers)}"
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        return name, os.open(name, flags, 0o600, dir_fd=at)

    @contextmanager
    def _opened(self) -> Iterator[int]:
        at = os.open(self.directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            yield at
        finally:
            os.close(at)


def record_name(id: str) -> str:
    """File name of the record of an entry."""
    return f"{id}.json"


def body_name(id: str) -> str:
    """File name of the stored body of an entry."""
    return f"{id}.body"


def hinted(text: object) -> str:
    """A text for the log with six digits of each id in it: who knows a whole one may read the result."""
    return _ID.sub(r"\1…", str(text))


def write_all(fd: int, view: memoryview) -> None:
    """Write all bytes of a flat view at the descriptor's position; OSError."""
    while view:
        view = view[os.write(fd, view) :]


def make_folder(directory: Path) -> None:
    """Make a folder and its parents where they are missing, and the name of each durable; OSError."""
    missing = itertools.takewhile(lambda folder: not folder.is_dir(), (directory, *directory.parents))
    above = [folder.parent for folder in missing]
    directory.mkdir(parents=True, exist_ok=True)
    for parent in above:
        sync_folder(parent)


def sync_folder(directory: Path) -> None:
    """Make the names in a folder durable."""
    at = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        _sync(at)
    finally:
        os.close(at)


def _sync(at: int) -> None:
    try:
        os.fsync(at)
    except OSError as error:
        if error.errno not in NO_FOLDER_SYNC:
            raise


def _remove(at: int, name: str) -> None:
    with suppress(FileNotFoundError):
        os.unlink(name, dir_fd=at)


def _open_regular(at: int, name: str) -> int:
    # O_NONBLOCK: opening a planted pipe must fail the check below instead of waiting for a writer.
    try:
        fd = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK, dir_fd=at)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise ValueError(f"{name} is a symbolic link.") from error
        raise
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise ValueError(f"{name} is no regular file.")
    return fd
