"""The account of files on the volume: what is staged, stored, pinned and waiting to be unlinked; pure.

Every file is in exactly one place at a time:

    staged ──settle──► stored ──condemn──► removable ──removed──► (no file)
       └──drop──► (no file)   └─ while pinned it stays counted as stored, and the last release moves it on

A staged file may be pinned as well; whoever gives it up waits with `drop` until it is pinned no more.
"""

from storage.budget import Budget


class Ledger:
    """Owner of the counts of one store; its caller holds the lock.

    `files` and `bytes` are what the store holds: staged, stored and leased. Removable files are dead and only wait
    for their unlink, so they no longer fill the store; yet they do lie on the disk, so growth still reckons with them.
    """

    def __init__(self, budget: Budget) -> None:
        self.budget = budget
        self._staged: dict[str, int] = {}
        self._stored: dict[str, int] = {}
        self._removable: dict[str, int] = {}
        self._condemned: set[str] = set()
        self._pins: dict[str, int] = {}
        self._bytes = 0
        self._removable_bytes = 0

    @property
    def files(self) -> int:
        """Number of files held."""
        return len(self._staged) + len(self._stored)

    @property
    def bytes(self) -> int:
        """Bytes held."""
        return self._bytes

    @property
    def full(self) -> bool:
        """Whether no further file may be begun."""
        return self.budget.is_full(self.files, self.bytes)

    @property
    def staged(self) -> dict[str, int]:
        """Sizes of the staged files, by id; a copy."""
        return dict(self._staged)

    @property
    def stored(self) -> dict[str, int]:
        """Sizes of the live or leased bodies, by id; a copy."""
        return dict(self._stored)

    @property
    def removable(self) -> tuple[str, ...]:
        """Ids of the bodies to unlink."""
        return tuple(self._removable)

    def has(self, id: str) -> bool:
        """Whether a file of this id may lie on the volume."""
        return id in self._staged or id in self._stored or id in self._removable

    def stage(self, id: str) -> None:
        """Begin an empty staged file; StoreFull, or ValueError where the id has a file already."""
        if self.has(id):
            raise ValueError("An entry can have only one file at a time.")
        self.budget.check_file(self.files + len(self._removable), self._bytes + self._removable_bytes)
        self._staged[id] = 0

    def resize(self, id: str, size: int) -> None:
        """Let a staged file become `size` bytes long; ResultTooLarge or StoreFull change nothing."""
        before = self._staged[id]
        on_disk = self._bytes + self._removable_bytes
        self.budget.check_growth(before, size - before, self.files + len(self._removable), on_disk)
        self._staged[id] = size
        self._bytes += size - before

    def drop(self, id: str) -> None:
        """A staged file is gone."""
        self._bytes -= self._staged.pop(id)

    def settle(self, id: str) -> None:
        """A staged file became the stored body."""
        self._stored[id] = self._staged.pop(id)

    def restore(self, id: str, size: int) -> None:
        """A body of an earlier run lies on the volume; counted whatever the limits say now."""
        self._stored[id] = size
        self._bytes += size

    def pin(self, id: str) -> None:
        """Keep a stored or staged file on the volume until a matching `release`."""
        self._pins[id] = self._pins.get(id, 0) + 1

    def release(self, id: str) -> None:
        """Undo one `pin`; the last one makes a condemned body removable."""
        self._pins[id] -= 1
        if self._pins[id] == 0:
            del self._pins[id]
            if id in self._condemned:
                self._make_removable(id)

    def is_pinned(self, id: str) -> bool:
        """Whether somebody keeps the file of this id on the volume."""
        return id in self._pins

    def condemn(self, id: str) -> None:
        """The body is no result any more: removable now, or at the last release. Without a body nothing happens."""
        if id not in self._stored:
            return
        if id in self._pins:
            self._condemned.add(id)
        else:
            self._make_removable(id)

    def removed(self, id: str) -> None:
        """A removable body is off the volume; a second report of the same body is ignored."""
        self._removable_bytes -= self._removable.pop(id, 0)

    def _make_removable(self, id: str) -> None:
        self._condemned.discard(id)
        size = self._stored.pop(id)
        self._removable[id] = size
        self._bytes -= size
        self._removable_bytes += size
