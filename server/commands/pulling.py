"""Fetching both halves of YuE2: the size, the room and the consent first, then file after file."""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ValidationError
from rich.filesize import decimal

from server.commands.bar import Bar
from server.commands.consent import agree
from server.commands.endings import say
from server.commands.fetching import Fetching, missing_bytes
from server.commands.hub import Hub
from server.commands.hub_errors import NoRoom, WrongRepository
from server.commands.model_files import LICENCE, LICENCE_ADDRESS, Listing, Part, needed
from server.commands.places import check_places, check_writable, stray_weights
from server.commands.receipt import read_receipt, write_receipt
from server.commands.transfer import Transfer

MANIFEST = "weights_manifest.json"
SPARE_BYTES = 100 * 1000 * 1000  # what a disk should have left


@dataclass(frozen=True, slots=True)
class Half:
    """One of the two models: where it is from and where it goes."""

    part: Part
    revision: str
    into: Path

    @property
    def folder(self) -> Path:
        """The folder that it fills."""
        return self.part.folder(self.into)

    def is_whole(self) -> bool:
        """Whether an earlier run has fetched and checked just this, and nobody has changed it since."""
        kept = read_receipt(self.folder)
        return (
            kept is not None and self.part.repo == kept.repo and self.revision in (kept.revision, kept.commit)
        )

    def strays(self) -> list[str]:
        """Files of weights in its folder that no run has fetched there, and with which it cannot be loaded."""
        kept = read_receipt(self.folder)
        return [] if kept is None else stray_weights(self.folder, kept.files)


class Manifested(BaseModel):
    """What `weights_manifest.json` says of one file."""

    bytes: int
    sha256: str


class Manifest(BaseModel):
    """`weights_manifest.json`: the files of weights and their digests."""

    files: dict[str, Manifested]


def fetch_all(halves: Sequence[Half], yes: bool, at_terminal: bool) -> None:
    """Fetch what is not there yet. Raises PullError, OSError."""
    for half in halves:
        check_writable(half.folder)
    hub = Hub(os.environ.get("HF_ENDPOINT"))
    if hub.caution:
        say(hub.caution)
    with Bar() as bar:
        bar.report("asking the hub", 0.0)
        listings = [needed(half.part, hub.listing(half.part.repo, half.revision)) for half in halves]
    pairs = list(zip(halves, listings, strict=True))
    for half, listing in pairs:
        check_places(half.folder, listing)
    total = sum(listing.size_bytes for listing in listings)
    missing = sum(missing_bytes(half.folder, listing) for half, listing in pairs)
    _tell(pairs, total, missing)
    _check_room(halves[0].into, missing)
    agree(yes, at_terminal)
    with Bar() as bar, _kept():
        transfer = Transfer(bar, total, total - missing)
        for half, listing in pairs:
            _fetch(half.folder, listing, Fetching(hub, listing, half.folder, transfer))


def _tell(pairs: Sequence[tuple[Half, Listing]], total: int, missing: int) -> None:
    for half, listing in pairs:
        say(
            f"{listing.repo} ({decimal(listing.size_bytes)}, commit {listing.commit[:12]}) into {half.folder}"
        )
    there = f", {decimal(total - missing)} of which are there already" if missing < total else ""
    say(f"{decimal(total)} in all{there}.")
    say(f"Licence of these weights: {LICENCE}, not for commercial use; {LICENCE_ADDRESS}")


def _check_room(into: Path, missing: int) -> None:
    """Raise NoRoom unless the disk takes what is missing and has some left."""
    there = next(folder for folder in (into, *into.parents) if folder.is_dir())
    free = _free_bytes(there)
    if missing and free < missing + SPARE_BYTES:
        raise NoRoom(
            f"{decimal(missing)} are to be fetched, and the disk of {there} has {decimal(free)} left; "
            "make room, or name a folder on another disk with --into."
        )


def _free_bytes(folder: Path) -> int:
    return shutil.disk_usage(folder).free


@contextmanager
def _kept() -> Iterator[None]:
    """Say of an interrupted run that it was not in vain."""
    try:
        yield
    except KeyboardInterrupt:
        say("What has been fetched is kept; the same command goes on from there.")
        raise


def _fetch(folder: Path, listing: Listing, fetching: Fetching) -> None:
    """Every file of one repository; what describes the weights comes before them and has to agree with the hub."""
    manifest: Manifest | None = None
    for file in listing.files:
        if file.path.endswith(".safetensors") and manifest is None:
            manifest = _manifest(folder, listing)
            _check_manifest(manifest, listing)
        fetching.fetch(file)
    write_receipt(folder, listing)


def _manifest(folder: Path, listing: Listing) -> Manifest:
    try:
        return Manifest.model_validate_json((folder / MANIFEST).read_bytes())
    except ValidationError as error:
        raise WrongRepository(
            f"{MANIFEST} of {listing.repo} cannot be read; check the repository's name."
        ) from error


def _check_manifest(manifest: Manifest, listing: Listing) -> None:
    """Raise WrongRepository unless the manifest names just the weights that the hub has, with their digests."""
    told = {file.path: file for file in listing.files if file.path.endswith(".safetensors")}
    agree = manifest.files.keys() == told.keys() and all(
        (entry.bytes, entry.sha256) == (told[path].size_bytes, told[path].digest.hex)
        for path, entry in manifest.files.items()
    )
    if not agree:
        raise WrongRepository(
            f"The weights of {listing.repo} at {listing.commit[:12]} are not those that its {MANIFEST} names; "
            "choose another revision."
        )
