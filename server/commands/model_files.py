"""Which files of a repository a model needs, and where they go."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from server.commands.hub_errors import WrongRepository

LICENCE = "CC BY-NC 4.0"
LICENCE_ADDRESS = "https://creativecommons.org/licenses/by-nc/4.0/"

# Weights, what describes them, and the licences they come under; never code.
_NEEDED = re.compile(
    r"[\w-]+\.json|model(-\d{5}-of-\d{5})?\.safetensors|model\.safetensors\.index\.json|qwen\.tiktoken"
    r"|(LICENSE|LICENCE|NOTICE|THIRD_PARTY_NOTICES)(\.md|\.txt)?|licenses/[\w-]+(\.md|\.txt)?"
)
_ALWAYS = ("config.json", "weights_manifest.json")


@dataclass(frozen=True, slots=True)
class Digest:
    """How a file's content is told from another: SHA-256, or the SHA-1 by which git names a blob."""

    kind: str  # "sha256" or "git"
    hex: str


@dataclass(frozen=True, slots=True)
class RemoteFile:
    """One file of a repository at one commit."""

    path: str
    size_bytes: int
    digest: Digest


@dataclass(frozen=True, slots=True)
class Listing:
    """What a repository holds at one commit."""

    repo: str
    revision: str
    commit: str
    files: tuple[RemoteFile, ...]

    @property
    def size_bytes(self) -> int:
        """Bytes of all files together."""
        return sum(file.size_bytes for file in self.files)


@dataclass(frozen=True, slots=True)
class Part:
    """One of the two halves that make songs, and what its folder has to hold besides weights."""

    variable: str
    repo: str
    required: tuple[str, ...]

    def folder(self, into: Path) -> Path:
        """Its folder: named as the repository is, without the owner."""
        return into / self.repo.rpartition("/")[2]


def language_model(repo: str) -> Part:
    """The half that writes score and codes and makes latents of them."""
    return Part("YUE2_MODEL", repo, (*_ALWAYS, "yue2_generation_config.json", "qwen.tiktoken"))


def audio_decoder(repo: str) -> Part:
    """The half that makes sound of latents."""
    return Part("YUE2_VAE", repo, _ALWAYS)


def needed(part: Part, listing: Listing) -> Listing:
    """The listing without what a model does not need, weights last.

    Raises WrongRepository where a file lacks or is listed twice.
    """
    kept = [file for file in listing.files if _NEEDED.fullmatch(file.path)]
    names = [file.path for file in kept]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise WrongRepository(
            f"{listing.repo} lists {_enumerated(twice)} more than once, which no hub does; check HF_ENDPOINT."
        )
    missing = [name for name in part.required if name not in names]
    if not any(file.path.endswith(".safetensors") for file in kept):
        missing.append("model.safetensors")
    if missing:
        raise WrongRepository(
            f"{listing.repo} has no {_enumerated(missing)} and so is no {_kind(part)} of YuE2; "
            "check the repository's name."
        )
    files = tuple(sorted(kept, key=lambda file: (file.path.endswith(".safetensors"), file.path)))
    return Listing(listing.repo, listing.revision, listing.commit, files)


def _kind(part: Part) -> str:
    return "language model" if part.variable == "YUE2_MODEL" else "audio decoder"


def _enumerated(names: Iterable[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last
