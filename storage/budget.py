"""The limits of one result store, and how much of them is used; pure."""

from dataclasses import dataclass

from storage.errors import MAKING_ROOM, ResultTooLarge, StoreFull


@dataclass(frozen=True, slots=True)
class Budget:
    """Limits of a store: bytes and files altogether, bytes of one file. All at least 1, else ValueError.

    `advice` is how to make room where they are reached, the end of a sentence.
    """

    max_bytes: int
    max_files: int
    max_file_bytes: int
    advice: str = MAKING_ROOM

    def __post_init__(self) -> None:
        if min(self.max_bytes, self.max_files, self.max_file_bytes) < 1:
            raise ValueError("Each limit of a result store must be at least 1.")

    def is_full(self, files: int, used_bytes: int) -> bool:
        """Whether a store with this much in it takes no further file."""
        return files >= self.max_files or used_bytes >= self.max_bytes

    def check_file(self, files: int, used_bytes: int) -> None:
        """Raise StoreFull unless one more file may be begun."""
        if self.is_full(files, used_bytes):
            raise self.store_full(files, used_bytes)

    def check_growth(self, size: int, growth: int, files: int, used_bytes: int) -> None:
        """Raise ResultTooLarge or StoreFull unless a file of `size` bytes may grow by `growth` bytes.

        `files` and `used_bytes` are the whole store's, this file included. Shrinking is always allowed.
        """
        if growth <= 0:
            return
        if size + growth > self.max_file_bytes:
            raise ResultTooLarge(self.max_file_bytes)
        if used_bytes + growth > self.max_bytes:
            raise self.store_full(files, used_bytes)

    def store_full(self, files: int, used_bytes: int) -> StoreFull:
        """The error that names these numbers."""
        return StoreFull(files, self.max_files, used_bytes, self.max_bytes, self.advice)


@dataclass(frozen=True, slots=True)
class Usage:
    """What a store holds (results, leased leftovers and staged files) beside its limits."""

    files: int
    bytes: int
    limit_bytes: int
    limit_files: int
    max_file_bytes: int
    ttl_seconds: float
    full: bool
