"""Whether a checkpoint's weights are the bytes that its `weights_manifest.json` promises.

The manifest of the release: `{"schema": 1, "files": {"model.safetensors": {"bytes": …, "sha256": …}}}`, with every
`*.safetensors` file of the folder and no other. Reading 7 GB takes seconds to minutes, so a file's digest is
remembered, and read again only where its size or its time of change differs.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from io import RawIOBase
from pathlib import Path
from tempfile import NamedTemporaryFile

from engine.control import Check
from engine.errors import CheckpointError
from engine.yue2.files.faults import listed, unreadable, unusable
from engine.yue2.files.fields import Fields, parse_object
from engine.yue2.files.weight_files import safetensors_files

MANIFEST_FILE = "weights_manifest.json"
SLICE_BYTES = 2**20  # read and hashed between two checks: 20 ms from a disk of 50 MB/s
DIGEST = re.compile(r"[0-9a-f]{64}")
MOST_REMEMBERED = 64  # files; the first are forgotten
MOST_MEMORY_BYTES = 2**20


@dataclass(frozen=True, slots=True)
class Promise:
    """What the manifest says of a file; `sha256` in lower-case hexadecimal digits."""

    size_bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Seen:
    """A file's digest, and its size and time of change when it was read."""

    size_bytes: int
    mtime_ns: int
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


def verify_weights(
    folder: Path, remembered_in: Path, check: Check, progress: Callable[[float], None]
) -> dict[str, str]:
    """Verify every weights file against the manifest; the sha256 of each, by name.

    Files that `remembered_in` knows with their size and time of change are not read again. `check` runs before
    each MiB that is read and may raise; `progress` is told the fraction (0 to 1) of the bytes to be read that is
    done. Raises CheckpointError that names the files that differ.
    """
    manifest = read_manifest(folder)
    _check_sizes(folder, manifest)
    memory = _recall(remembered_in)
    unread = [name for name in manifest if not _is_known(folder, name, memory)]
    reader = _Reader(folder, sum(manifest[name].size_bytes for name in unread), check, progress)
    memory |= {_key(folder, name): reader.read(name) for name in unread}
    if unread:
        _remember(remembered_in, memory)
    digests = {name: memory[_key(folder, name)].sha256 for name in manifest}
    wrong = [name for name in manifest if digests[name] != manifest[name].sha256]
    if wrong:
        raise unusable(folder, f"the sha256 of {', '.join(wrong)} is not the one in {MANIFEST_FILE}")
    return digests


def _check_sizes(folder: Path, manifest: Mapping[str, Promise]) -> None:
    for name, promise in manifest.items():
        size = _stat(folder, name).st_size
        if size != promise.size_bytes:
            raise unusable(folder, f"{name} has {size} bytes, and {MANIFEST_FILE} says {promise.size_bytes}")


def _stat(folder: Path, name: str) -> os.stat_result:
    try:
        return (folder / name).stat()
    except OSError as error:
        raise unreadable(folder, name, error) from error


def _key(folder: Path, name: str) -> str:
    return str(folder.resolve() / name)


def _is_known(folder: Path, name: str, memory: Mapping[str, Seen]) -> bool:
    seen, now = memory.get(_key(folder, name)), _stat(folder, name)
    return seen is not None and (seen.size_bytes, seen.mtime_ns) == (now.st_size, now.st_mtime_ns)


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
            with (self._folder / name).open("rb", buffering=0) as stream:
                before = os.fstat(stream.fileno())
                digest = self._digest(stream)
                after = os.fstat(stream.fileno())
        except OSError as error:
            raise unreadable(self._folder, name, error) from error
        if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
            raise unusable(self._folder, f"{name} was written to while it was verified")
        return Seen(after.st_size, after.st_mtime_ns, digest)

    def _digest(self, stream: RawIOBase) -> str:
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
        with file.open("rb") as stream:
            known = parse_object(stream.read(MOST_MEMORY_BYTES))
        for path in known:
            fields = Fields(file.parent, file.name, known).inner(path)
            promise = _promise(fields)
            memory[path] = Seen(promise.size_bytes, fields.whole("mtime_ns", 0, 2**63), promise.sha256)
    return memory


def _remember(file: Path, memory: Mapping[str, Seen]) -> None:
    """Replace the file as a whole. Where that cannot be written the weights are verified again the next time."""
    newest = list(memory.items())[-MOST_REMEMBERED:]
    known = {
        path: {"bytes": seen.size_bytes, "mtime_ns": seen.mtime_ns, "sha256": seen.sha256}
        for path, seen in newest
    }
    with suppress(OSError):
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
