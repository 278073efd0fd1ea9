"""Whether a checkpoint's weights are the bytes that its `weights_manifest.json` promises.

The manifest of the release: `{"schema": 1, "files": {"model.safetensors": {"bytes": …, "sha256": …}}}`, with every
`*.safetensors` file of the folder and no other. Reading 7 GB takes seconds to minutes, so a file's digest is
remembered, and read again only where its size, its times of change or its place on the disk differ.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Self

from pydantic import JsonValue

from engine.control import Check
from engine.errors import CheckpointError
from engine.yue2.files.faults import listed, unreadable, unusable
from engine.yue2.files.fields import Fields, parse_object
from engine.yue2.files.regular import open_regular
from engine.yue2.files.weight_files import safetensors_files

MANIFEST_FILE = "weights_manifest.json"
SLICE_BYTES = 2**20  # read and hashed between two checks: 20 ms from a disk of 50 MB/s
DIGEST = re.compile(r"[0-9a-f]{64}")
SHORT_DIGITS = 12
MOST_REMEMBERED = 64  # files; the first are forgotten
MOST_MEMORY_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class Promise:
    """What the manifest says of a file; `sha256` in lower-case hexadecimal digits."""

    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Stamp:
    """What changes with a file: its size, the times of change of its content and of itself, and its inode."""

    size_bytes: int
    mtime_ns: int
    ctime_ns: int
    inode: int

    @classmethod
    def of(cls, state: os.stat_result) -> Self:
        """The stamp of a file's state."""
        return cls(state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino)


@dataclass(frozen=True, slots=True)
class Seen:
    """A file's digest, and what told the file from others and from its later selves when it was read."""

    stamp: Stamp
    sha256: str


def read_manifest(folder: Path) -> dict[str, Promise]:
    """What the manifest promises of each weights file, by name.

    Raises CheckpointError where the manifest is missing or damaged, or is not of exactly the folder's files.
    """
    present = safetensors_files(folder)
    fields = Fields.read(folder, MANIFEST_FILE)
    fields.fixed("schema", 1)
    files = fields.inner("files")
    faults = {
        f"files of {MANIFEST_FILE} missing": sorted(files.values.keys() - set(present)),
        f"files that {MANIFEST_FILE} does not name": sorted(set(present) - files.values.keys()),
    }
    found = [listed(kind, names) for kind, names in faults.items() if names]
    if found or not present:
        raise unusable(folder, ", ".join(found) or "it has no weights")
    return {name: _promise(files.inner(name)) for name in present}


def _promise(fields: Fields) -> Promise:
    size, digest = fields.whole("bytes", 0, 2**60), fields.text("sha256").lower()
    if not DIGEST.fullmatch(digest):
        raise fields.wrong("sha256", "64 hexadecimal digits")
    return Promise(size, digest)


def check_manifest(folder: Path) -> dict[str, Promise]:
    """As `read_manifest`, and of the sizes that the files have; no weights are read. Raises CheckpointError."""
    manifest = read_manifest(folder)
    for name, promise in manifest.items():
        size = _stat(folder, name).st_size
        if size != promise.size_bytes:
            raise unusable(folder, f"{name} has {size} bytes, and {MANIFEST_FILE} says {promise.size_bytes}")
    return manifest


def short_digest(manifest: Mapping[str, Promise]) -> str:
    """Twelve hexadecimal digits that tell a checkpoint's weights from others: of the only file's sha256, or of all's."""
    digests = [manifest[name].sha256 for name in sorted(manifest)]
    whole = digests[0] if len(digests) == 1 else hashlib.sha256("\n".join(digests).encode()).hexdigest()
    return whole[:SHORT_DIGITS]


def verify_weights(
    folder: Path, remembered_in: Path, check: Check, progress: Callable[[float], None]
) -> dict[str, str]:
    """As `Verification.verify`, once."""
    return Verification(remembered_in).verify(folder, check, progress)


class Verification:
    """Owner of what is known of the files that were verified, in this process and in a file for the next one."""

    def __init__(self, remembered_in: Path) -> None:
        """Reads nothing yet; the file need not be there, nor be one that can be written."""
        self._file = remembered_in
        self._memory: dict[str, Seen] = {}  # by path

    def verify(self, folder: Path, check: Check, progress: Callable[[float], None]) -> dict[str, str]:
        """Verify every weights file against the manifest; the sha256 of each, by name.

        Files that are known with the stamp they have are not read again. `check` runs before each MiB that is read
        and may raise; `progress` is told the fraction (0 to 1) of the bytes to be read that is done. Raises
        CheckpointError that names the files that differ.
        """
        manifest = check_manifest(folder)
        self._memory = _recall(self._file) | self._memory
        unread = [name for name in manifest if not _is_known(folder, name, self._memory)]
        reader = _Reader(folder, sum(manifest[name].size_bytes for name in unread), check, progress)
        for name in unread:
            self._memory.pop(_key(folder, name), None)  # the newest come last
            self._memory[_key(folder, name)] = reader.read(name)
        if unread:
            _remember(self._file, self._memory)
        digests = {name: self._memory[_key(folder, name)].sha256 for name in manifest}
        wrong = [name for name in manifest if digests[name] != manifest[name].sha256]
        if wrong:
            raise unusable(folder, f"the sha256 of {', '.join(wrong)} is not the one in {MANIFEST_FILE}")
        return digests


def _stat(folder: Path, name: str) -> os.stat_result:
    try:
        return (folder / name).stat()
    except OSError as error:
        raise unreadable(folder, name, error) from error


def _key(folder: Path, name: str) -> str:
    return str(folder.resolve() / name)


def _is_known(folder: Path, name: str, memory: Mapping[str, Seen]) -> bool:
    seen, now = memory.get(_key(folder, name)), _stat(folder, name)
    return seen is not None and seen.stamp == Stamp.of(now)


class _Reader:
    """Reads files and hashes them; owner of the count of bytes that were read."""

    def __init__(self, folder: Path, total: int, check: Check, progress: Callable[[float], None]) -> None:
        self._folder = folder
        self._total = total  # bytes of all files to be read
        self._check = check
        self._progress = progress
        self._done = 0  # bytes

    def read(self, name: str) -> Seen:
        """A file's digest; raises CheckpointError where the file changes meanwhile."""
        try:
            with open_regular(self._folder / name) as stream:
                before = Stamp.of(os.fstat(stream.fileno()))
                digest = self._digest(stream)
                after = Stamp.of(os.fstat(stream.fileno()))
        except OSError as error:
            raise unreadable(self._folder, name, error) from error
        if before != after:
            raise unusable(self._folder, f"{name} was written to while it was verified")
        return Seen(after, digest)

    def _digest(self, stream: BufferedReader) -> str:
        digest, piece = hashlib.sha256(), memoryview(bytearray(SLICE_BYTES))
        self._check()
        while count := stream.readinto(piece):
            digest.update(piece[:count])
            self._done += count
            self._progress(min(1.0, self._done / self._total))
            self._check()
        return digest.hexdigest()


def _recall(file: Path) -> dict[str, Seen]:
    """What was remembered, by path; nothing where that is damaged: then everything is read again."""
    memory: dict[str, Seen] = {}
    with suppress(OSError, ValueError, CheckpointError):
        with open_regular(file) as stream:
            known = parse_object(stream.read(MOST_MEMORY_BYTES))
        for path in known:
            fields = Fields(file.parent, file.name, known).inner(path)
            promise = _promise(fields)
            mtime, ctime, inode = (fields.whole(name, 0, 2**64) for name in ("mtime_ns", "ctime_ns", "inode"))
            memory[path] = Seen(Stamp(promise.size_bytes, mtime, ctime, inode), promise.sha256)
    return memory


def _remember(file: Path, memory: Mapping[str, Seen]) -> None:
    """Replace the file as a whole. Where that cannot be written the next process verifies the weights again."""
    newest = list(memory.items())[-MOST_REMEMBERED:]
    known = {path: _as_json(seen) for path, seen in newest}
    with suppress(OSError):
        if file.exists() and not file.is_file():
            return
        file.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(
            "w", encoding="utf-8", dir=file.parent, prefix=f".{file.name}-", delete=False
        ) as stream:
            json.dump(known, stream, indent=2)
        temporary = Path(stream.name)
        try:
            temporary.replace(file)
        finally:
            temporary.unlink(missing_ok=True)


def _as_json(seen: Seen) -> dict[str, JsonValue]:
    stamp = seen.stamp
    return {
        "bytes": stamp.size_bytes,
        "mtime_ns": stamp.mtime_ns,
        "ctime_ns": stamp.ctime_ns,
        "inode": stamp.inode,
        "sha256": seen.sha256,
    }
