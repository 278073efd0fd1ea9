"""What `yue2-studio pull` notes in a model's folder when it is whole, so that a second run ends at once."""

import json
import secrets
from pathlib import Path

from pydantic import BaseModel

from server.commands.model_files import Listing
from server.commands.replacing import replacing

NAME = ".pulled.json"


class Receipt(BaseModel):
    """Where a folder's files are from, and by what it is seen that nobody has changed them."""

    repo: str
    revision: str
    commit: str
    files: dict[str, tuple[int, int]]  # by path: bytes, time of the last change in nanoseconds


def write_receipt(folder: Path, listing: Listing) -> None:
    """Note that all files of the listing are in the folder, checked. Raises OSError."""
    files = {file.path: _stamp(folder / file.path) for file in listing.files}
    kept = Receipt(repo=listing.repo, revision=listing.revision, commit=listing.commit, files=files)
    with replacing(folder / NAME, secrets.token_hex(4)) as file:
        file.write(json.dumps(kept.model_dump(), indent=2).encode())


def read_receipt(folder: Path) -> Receipt | None:
    """The note of a folder whose files are as they were then; none where one is missing or changed."""
    try:
        kept = Receipt.model_validate_json((folder / NAME).read_bytes())
        unchanged = all(_stamp(folder / path) == stamp for path, stamp in kept.files.items())
    except (OSError, ValueError):  # nothing there, or not what a pull writes: names too long, a NUL in a path
        return None
    return kept if unchanged else None


def _stamp(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_size, status.st_mtime_ns
