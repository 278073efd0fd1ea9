"""A store of results on a volume: accepted, staged, published, leased, expired."""

import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

from storage import recovery
from storage.budget import Budget, Usage
from storage.entry import JSON, Entry, EntryState, Part
from storage.errors import NotStored, StoreFull
from storage.folder import Folder
from storage.growth import Following, Growth, nobody
from storage.index import ResultIndex
from storage.pinned import Pinned
from storage.staging import StagedFile
from storage.sweeper import Sweeper


class Lease(Pinned):
    """A pinned result: `fd` reads the whole body of `entry` until `close`, whatever happens to the entry meanwhile."""

    def __init__(self, entry: Entry, fd: int, release: Callable[[], None]) -> None:
        super().__init__(fd, release)
        self.entry = entry


class ResultStore:
    """Owner of one folder and of its index; every method is thread-safe.

    Two locks, taken in this order. `_records` orders the changes of records on the disk, so it is held for the write
    of one small file. `_lock` guards the index and is held for no I/O at all: the look-ups and counts (`find`,
    `holds`, `find_key`, `check_accepting`, `usage`) take only this one and may be called on an event loop. Bodies are written,
    synced, hashed and unlinked under neither. Times are `clock()`'s, in epoch seconds.

    `on_growth` is called with an entry's id, outside the locks and by whatever thread made the change, each time its
    body has more to read for those who follow it, and when that body is published or given up. It must neither block
    nor raise.
    """

    def __init__(
        self,
        directory: Path,
        budget: Budget,
        ttl_seconds: float,
        clock: Callable[[], float],
        on_growth: Callable[[str], object] = nobody,
    ) -> None:
        self._folder = Folder(directory)
        self._index = ResultIndex(budget, ttl_seconds)
        self._ttl_seconds = ttl_seconds
        self._clock = clock
        self._on_growth = on_growth
        self._growing: dict[str, Growth] = {}
        self._lock = threading.Lock()
        self._records = threading.Lock()
        self._sweeper = Sweeper(self._folder, self._index, self._lock, self._records)

    def recover(self) -> tuple[Entry, ...]:
        """Once, before anything else: make the folder, load its records, tidy up; the entries still accepted.

        See `storage.recovery.load` for what is removed and what is kept. Raises DiskFull, OSError, and ValueError
        where the store has entries already.
        """
        with self._lock:
            if self._index.entries:
                raise ValueError("A store is recovered once, before anything else.")
        self._folder.create()
        with self._records, self._lock:
            recovery.load(self._folder, self._index, self._clock())
        self.sweep()
        with self._lock:
            entries = self._index.entries
        accepted = (entry for entry in entries if entry.state is EntryState.ACCEPTED)
        return tuple(sorted(accepted, key=lambda entry: entry.created_at))

    def check_accepting(self) -> None:
        """Raise StoreFull where files or bytes are at their limit."""
        with self._lock:
            self._index.advance(self._clock())
            ledger = self._index.ledger
            ledger.budget.check_file(ledger.files, ledger.bytes)

    def accept(self, entry: Entry) -> Entry:
        """Record an accepted entry durably and return it; or return the one that holds its owner's key already.

        Of several at once with one key the first is recorded and all get it. Nothing is kept on DiskFull or where the
        id is taken (ValueError).
        """
        with self._records:
            with self._lock:
                known = self._index.find_key(entry.owner, entry.idempotency_key, self._clock())
                if known is not None:
                    return known
                self._index.check_new(entry)
            self._folder.write_record(entry, new=True)
            with self._lock:
                self._index.add(entry)
        return entry

    def withdraw(self, id: str) -> None:
        """Undo an `accept`: entry, key and record never were. UnknownEntry, EntryExpired, NotStored (has ended).

        A record that cannot be unlinked is unlinked by a later sweep; a restart before that finds the entry accepted.
        """
        with self._records:
            with self._lock:
                self._index.withdraw(id, self._clock())
            self._sweeper.remove_record(id)

    def find(self, id: str) -> Entry:
        """The entry, accepted, stored or ended; UnknownEntry, EntryExpired."""
        with self._lock:
            return self._index.find(id, self._clock())

    def holds(self, id: str) -> bool:
        """Whether anything is known under this id: an entry, or that there was one. Touches no disk."""
        with self._lock:
            return self._index.remembered(id) is not None

    def find_key(self, owner: str, key: str) -> Entry | None:
        """The entry that holds this owner's idempotency key; a key is free again once its entry is gone."""
        with self._lock:
            return self._index.find_key(owner, key, self._clock())

    def free_key(self, id: str) -> None:
        """Let another entry have this accepted one's idempotency key; UnknownEntry, EntryExpired.

        An entry that has its result, or whose result is being published, keeps it; one whose result is published later
        has it again, unless it has been taken. Touches no disk: the record says so once the entry ends, and until then a restart would find the key in use.
        """
        with self._lock:
            self._index.free_key(id, self._clock())

    def stage(self, id: str) -> StagedFile:
        """Begin the body of an accepted entry; StoreFull, DiskFull, UnknownEntry, EntryExpired, NotStored (has ended).

        A context manager, and to be used as one: leaving it unpublished removes the file and gives its bytes back.
        One at a time for an entry (ValueError).
        """
        self.sweep()
        with self._lock:
            self._index.accepted(id, self._clock())
            self._index.ledger.stage(id)
        with ExitStack() as undo:
            undo.callback(self._uncount, id)
            name, fd = self._folder.stage(id)
            undo.pop_all()
        staged = StagedFile(
            id,
            name,
            fd,
            partial(self._resize, id),
            partial(self._give_up, id, name),
            partial(self._on_growth, id),
        )
        with self._lock:
            self._growing[id] = staged.growth
        return staged

    def publish(
        self, staged: StagedFile, *, content_type: str, parts: Sequence[Part], detail: Mapping[str, JSON]
    ) -> Entry:
        """Make a staged file the result of its entry, durably, and close it; it expires one TTL from now.

        Raises the failure of an earlier write, DiskFull, ValueError (parts outside the body, unfit detail) and, where
        the entry was withdrawn or ended meanwhile, UnknownEntry, EntryExpired or NotStored; then the file is still
        staged and goes when it is closed.
        """
        self.sweep()
        with staged.publishing():
            size, digest = staged.seal()
            with self._records:
                now = self._clock()
                with self._lock:
                    accepted = self._index.begin_publishing(staged.id, now)
                stored = accepted.evolve(
                    state=EntryState.STORED,
                    expires_at=now + self._ttl_seconds,
                    content_type=content_type,
                    size_bytes=size,
                    sha256=digest,
                    parts=tuple(parts),
                    detail=dict(detail),
                )
                self._folder.publish(staged.staged_name, stored)
                with self._lock:
                    self._index.publish(stored)
                    del self._growing[staged.id]
                staged.growth.publish(stored)
        return stored

    def end(self, id: str, detail: Mapping[str, JSON]) -> Entry:
        """End an accepted entry without a result; one that has ended or is stored stays as it is and is returned.

        UnknownEntry, EntryExpired, ValueError (unfit detail). A volume that refuses the record does not stop it: that is
        written by a later sweep, and until then a restart would find the entry still accepted.
        """
        with self._records:
            now = self._clock()
            with self._lock:
                entry = self._index.find(id, now)
            if entry.state is not EntryState.ACCEPTED:
                return entry
            ended = entry.evolve(
                state=EntryState.ENDED, expires_at=now + self._ttl_seconds, detail=dict(detail)
            )
            ended.to_json()
            with self._lock:
                ended = self._index.end(ended)
            self._sweeper.save(ended)
        return ended

    def lease(self, id: str) -> Lease:
        """Pin a result and open it; UnknownEntry, EntryExpired, NotStored (also where its file is missing or damaged)."""
        with self._lock:
            entry = self._index.pin(id, self._clock())
        with ExitStack() as undo:
            undo.callback(self._release, id)
            try:
                fd = self._folder.open_body(id, entry.size_bytes)
            except (FileNotFoundError, ValueError) as error:
                message = "The stored result is missing or damaged; submit the request again."
                raise NotStored(id, message) from error
            undo.pop_all()
        return Lease(entry, fd, partial(self._release, id))

    def follow(self, id: str) -> Following | None:
        """Pin a body that is being made, and read along; None while, and once, it is not. UnknownEntry, EntryExpired, OSError.

        Changes are told through `on_growth`. Holds the look-ups' lock alone and touches no file, so an event loop may
        call it.
        """
        with self._lock:
            self._index.find(id, self._clock())
            growth = self._growing.get(id)
            fd = None if growth is None else growth.copy_descriptor()
            if growth is None or fd is None:
                return None
            self._index.ledger.pin(id)
        return Following(fd, growth, partial(self._release, id))

    def delete(self, id: str) -> None:
        """Make a stored or ended entry gone, durably; its file goes at once or with its last lease.

        UnknownEntry, EntryExpired, NotStored (not finished yet). A volume that refuses the record does not stop it: a
        full one loses the record instead, any other gets it by a later sweep; a restart before that finds the entry
        stored, or ended as `result_missing` once its file is gone.
        """
        with self._records:
            with self._lock:
                gone = self._index.delete(id, self._clock())
            self._sweeper.save_deleted(gone)
        self._sweeper.remove_bodies()

    def sweep(self) -> int:
        """Unlink what expired and forget old tombstones; how many entries expired since the last sweep."""
        return self._sweeper.sweep(self._clock())

    def usage(self) -> Usage:
        """Files and bytes held (results, leased leftovers, staged files) beside the limits."""
        with self._lock:
            self._index.advance(self._clock())
            return self._index.usage()

    def audit(self) -> list[str]:
        """Differences between folder and index, a sentence each; exact while nothing is being written or removed."""
        with self._records:
            with self._lock:
                known = self._index.contents()
            return recovery.audit(self._folder.list(), known)

    def _resize(self, id: str, size: int) -> None:
        try:
            with self._lock:
                self._index.ledger.resize(id, size)
        except StoreFull:
            # What expired since the file was begun may have left room.
            self.sweep()
            with self._lock:
                self._index.ledger.resize(id, size)

    def _give_up(self, id: str, staged_name: str) -> None:
        with self._lock:
            del self._growing[id]
        self._sweeper.give_up(id, staged_name)

    def _uncount(self, id: str) -> None:
        with self._lock:
            self._index.ledger.drop(id)

    def _release(self, id: str) -> None:
        with self._lock:
            self._index.ledger.release(id)
        self._sweeper.remove_bodies()
        self._sweeper.remove_given_up()
