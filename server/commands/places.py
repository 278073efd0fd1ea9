"""Whether a folder can be filled with a model's files, and what else lies in it."""

import os
from collections.abc import Iterable
from pathlib import Path

from server.commands.hub_errors import InTheWay
from server.commands.model_files import Listing


def check_writable(folder: Path) -> None:
    """Raise InTheWay unless the folder takes new files, or the nearest one above it that is there."""
    there = next(place for place in (folder, *folder.parents) if os.path.lexists(place))
    if not there.is_dir():
        raise InTheWay(f"{there} is no folder; move it away, or name another folder with --into.")
    if not os.access(there, os.W_OK | os.X_OK):
        raise InTheWay(
            f"{there} cannot be written to; make it writable for this user, or name another folder with --into."
        )


def check_places(folder: Path, listing: Listing) -> None:
    """Raise InTheWay where a folder lies in the place of a file, or a file in that of a folder."""
    for target in (folder / file.path for file in listing.files):
        if target.is_dir():
            raise InTheWay(f"{target} is a folder, and a file of that name is to be fetched; move it away.")
        if os.path.lexists(target.parent) and not target.parent.is_dir():
            raise InTheWay(
                f"{target.parent} is no folder, and a file is to be fetched into it; move it away."
            )


def stray_weights(folder: Path, known: Iterable[str]) -> list[str]:
    """Names of files of weights in the folder that are not among the known ones; hidden ones do not count."""
    found = {path.name for path in folder.glob("*.safetensors") if not path.name.startswith(".")}
    return sorted(found - set(known))
