"""What can keep a server from starting, told as one sentence with the setting, its value and the remedy."""

import errno
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING

from storage.errors import OutputLocked
from storage.lock import OutputLock

if TYPE_CHECKING:
    from server.settings import Settings

BACKLOG = 512


class StartError(Exception):
    """The server cannot start; the message is a sentence that says what to change."""


@contextmanager
def held_output(settings: "Settings", holder: str) -> Iterator[None]:
    """Hold the output folder, with the folders in it there and writable. Raises StartError.

    `holder` is what a second server is told about this one.
    """
    make_folder("YUE2_RESULT_DIR", settings.result_dir, settings.output_directory)
    lock = OutputLock(settings.output_directory, holder)
    try:
        lock.acquire()
    except OutputLocked as error:
        raise StartError(_in_use(settings, error.holder)) from None
    except OSError as error:
        raise StartError(_unusable("YUE2_RESULT_DIR", settings.result_dir, lock.path, error)) from None
    try:
        make_folder("YUE2_RESULT_DIR", settings.result_dir, settings.result_dir.absolute())
        make_folder("YUE2_RESULT_DIR", settings.result_dir, settings.artifacts_directory)
        make_folder("YUE2_DATA_DIR", settings.data_directory, settings.data_directory)
        yield
    finally:
        lock.release()


def make_folder(variable: str, value: Path, folder: Path) -> None:
    """Make `folder`, which the setting's value asks for, where it is missing. Raises StartError."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))
    except OSError as error:
        raise StartError(_unusable(variable, value, folder, error)) from None


def bind(host: str, port: int) -> socket.socket:
    """A listening socket; callers queue in it until the server accepts. Raises StartError where it cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        bound = socket.socket(family, socket.SOCK_STREAM)
    except OSError as error:
        raise StartError(_unbound(host, port, error)) from None
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
        bound.listen(BACKLOG)
    except (OSError, UnicodeError) as error:
        bound.close()
        raise StartError(_unbound(host, port, error)) from None
    bound.setblocking(False)
    return bound


def address(bound: socket.socket) -> str:
    """The URL of a bound socket."""
    host, port = bound.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def announcement(bound: socket.socket) -> str:
    """The address for a user: where the socket hears every network, with one that a browser on this machine takes."""
    host, port = bound.getsockname()[:2]
    if not ip_address(host).is_unspecified:
        return address(bound)
    return f"{address(bound)}, that is every network of this machine (on it: http://127.0.0.1:{port})"


def open_to_all(bound: socket.socket, settings: "Settings") -> str:
    """A sentence where others than this machine may use the server without a key; empty where they may not."""
    host = bound.getsockname()[0]
    if settings.api_keys or ip_address(host).is_loopback:
        return ""
    return (
        f"No keys are set, so whoever reaches {address(bound).removeprefix('http://')} may use this server; "
        "set YUE2_API_KEYS, or YUE2_HOST to 127.0.0.1."
    )


def _in_use(settings: "Settings", holder: str) -> str:
    return (
        f"The output folder {settings.output_directory}, the parent of YUE2_RESULT_DIR ({settings.result_dir}), "
        f"is in use by {holder}; stop that server, or give this one a folder within a folder of its own, such as "
        f"{_beside(settings) / 'jobs'}."
    )


def _beside(settings: "Settings") -> Path:
    """An output folder next to the one in use; where that is `/` or lies in it, next to the results' folder."""
    used = settings.output_directory
    place = used if len(used.parts) > 2 else settings.result_dir.absolute()
    return place.with_name(f"{place.name}-2")


def _unusable(variable: str, value: Path, folder: Path, error: OSError) -> str:
    place = folder if error.filename is None else error.filename
    return (
        f"{variable} is {value}, but {place} cannot be made or written to ({error.strerror or error}); "
        f"make it writable for this user or set {variable} to another folder."
    )


def _unbound(host: str, port: int, error: OSError | UnicodeError) -> str:
    number = error.errno if isinstance(error, OSError) and not isinstance(error, socket.gaierror) else None
    if number == errno.EADDRINUSE:
        return f"{host}:{port} is taken; stop what listens there or set YUE2_PORT."
    if number == errno.EACCES:
        return f"YUE2_PORT is {port}, which this user may not listen on; set it to 1024 or more."
    if number == errno.EADDRNOTAVAIL:
        known = "is no address of this machine"
    else:
        known = "cannot be listened on" if number else "is no address and no name that is known here"
    return (
        f"YUE2_HOST is {host}, which {known}; set it to 127.0.0.1 for this machine alone, to 0.0.0.0 for every "
        "network, or to one of this machine's addresses."
    )
