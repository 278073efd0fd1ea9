"""The files of this machine that agents name: recordings to send, and places to save to."""

import errno
import os
import re
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from engine.errors import InvalidRequest
from server.agents.links import ARTIFACTS_PATH
from server.commands.bridge_errors import BridgeRefusal
from server.commands.recording import opened
from server.limits import MAX_BODY_BYTES
from storage.entry import JSON

MOST_MEBIBYTES: Final = MAX_BODY_BYTES // 1024**2
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
_LINK: Final = re.compile(rf".*({ARTIFACTS_PATH}/[\w-]+/([a-z0-9][\w.-]{{0,200}}))", re.ASCII | re.IGNORECASE)


def path_in(field: str, value: JSON) -> Path:
    """A path as an agent writes it: a whole one, or from `~` on, the home of whoever runs this. Raises BridgeRefusal."""
    if not isinstance(value, str) or not value.strip():
        raise _unfit(field, f"{field} must be the path of a file on this computer, as text.")
    try:
        path = Path(value).expanduser()
    except (ValueError, RuntimeError):
        raise _unfit(field, f"{field} is a path with a home folder that does not exist here.") from None
    if not path.is_absolute():  # from which folder a client starts this nobody knows
        raise _unfit(
            field,
            f"{field} must be a whole path, which begins with / or ~, such as ~/Music/{path.name[:80]}.",
        )
    return path


def recording_in(field: str, value: JSON) -> bytes:
    """A recording of at most MAX_BODY_BYTES. Raises BridgeRefusal."""
    path = path_in(field, value)
    with _told(field, path):
        if path.is_dir():
            raise _unfit(field, f"{path} is a folder; name one recording in it.")
        with opened(path) as file:
            content = file.read(MAX_BODY_BYTES + 1)
    if not content:
        raise _unfit(field, f"{path} is empty; name a recording with something in it.")
    if len(content) > MAX_BODY_BYTES:
        raise BridgeRefusal(
            "body_too_large",
            f"{path} has more than the {MOST_MEBIBYTES} MiB that a server takes, so nothing was sent. Have it converted to "
            "MP3 or Opus, or cut into parts, and call the tool again.",
            {"field": field},
        )
    return content


def check_place(place: Path, *, is_folder: bool) -> None:
    """Refuse, before there is anything to save, a place where nothing could be. Raises BridgeRefusal."""
    with _told("save_to", place):
        if place.is_dir():
            return
        if is_folder or not place.parent.is_dir():
            folder = place if is_folder else place.parent
            raise BridgeRefusal(
                "no_such_folder",
                f"{folder} is no folder on this computer, so nothing was saved. Call the tool again with a save_to in a "
                "folder that is there.",
                {"field": "save_to"},
            )
        if os.path.lexists(place):
            raise file_exists(place) if _is_ordinary(place) else _no_place(place)


def file_at(place: Path, name: str) -> Path:
    """The new file at a place, which in a folder has this name. Raises BridgeRefusal."""
    with _told("save_to", place):
        file = place / name if place.is_dir() else place
    check_place(file, is_folder=False)
    if file.is_dir():
        raise file_exists(file)
    return file


def named_in(url: str) -> tuple[str, str]:
    """A link's path from its server's root, and the name of the file. Raises BridgeRefusal for what is no such link."""
    found = _LINK.fullmatch(unquote(urlsplit(url).path))
    if found is None:
        raise BridgeRefusal("wrong_service", "The server's answer has no link that can be saved from.")
    return found.group(1), found.group(2)


def file_exists(place: Path) -> BridgeRefusal:
    """There is something where a file was to be saved."""
    return BridgeRefusal(
        "file_exists",
        f"{place} is there already and was left as it is; nothing was saved. Call the tool again with another save_to, or "
        "have the user remove that file.",
        {"field": "save_to", "path": str(place)},
    )


def _is_ordinary(place: Path) -> bool:
    mode = place.lstat().st_mode
    return stat.S_ISREG(mode) or stat.S_ISLNK(mode)


def _no_place(place: Path) -> BridgeRefusal:
    return BridgeRefusal(
        "not_saved",
        f"{place} is a device, a pipe or a socket, where no file can be saved. Call the tool again with a save_to that is a "
        "new file or a folder, or without one.",
        {"field": "save_to", "path": str(place)},
    )


@contextmanager
def saving(place: Path) -> Iterator[None]:
    """Raise BridgeRefusal where the block raises what goes wrong with files."""
    with _told("save_to", place):
        yield


@contextmanager
def _told(field: str, path: Path) -> Iterator[None]:
    try:
        yield
    except InvalidRequest as error:
        raise _unfit(field, str(error)) from error
    except FileExistsError as error:
        raise file_exists(path) from error
    except ValueError as error:  # such as a NUL in it
        raise _unfit(field, f"{field} is no path that can be on this computer.") from error
    except OSError as error:
        raise _of_the_system(field, path, error) from error


def _of_the_system(field: str, path: Path, error: OSError) -> BridgeRefusal:
    if error.errno in _FULL:
        return BridgeRefusal(
            "disk_full",
            f"The disk of this computer has no room for {path}, so nothing was saved. Ask the user to free some, or call "
            "the tool again with a save_to elsewhere.",
            {"field": field},
        )
    doing = "written to" if field == "save_to" else "read"
    return BridgeRefusal(
        "not_saved" if field == "save_to" else "invalid_field",
        f"{path} cannot be {doing}: {error.strerror or error}. Call the tool again with another path.",
        {"field": field},
    )


def _unfit(field: str, message: str) -> BridgeRefusal:
    return BridgeRefusal(
        "invalid_field", f"{message} Nothing was done; call the tool again.", {"field": field}
    )
