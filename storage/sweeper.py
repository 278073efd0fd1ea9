"""Clearing up behind the index: what it let go of is unlinked, what the volume refused is written later.

One file that cannot be touched keeps nothing else from being cleared: it is said in the log and tried again.
"""

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from storage.entry import Entry
from storage.errors import DiskFull
from storage.folder import Folder, body_name, hinted, record_name
from storage.index import ResultIndex

log = logging.getLogger("storage")


class Sweeper:
    """Owner of two lists: ids whose records on the volume are behind the index, guarded by `records`, and staged files
    given up but still there, by name, guarded by `lock`.

    Folder, index and both locks are the store's.
    """

    def __init__(
        self, folder: Folder, index: ResultIndex, lock: threading.Lock, records: threading.Lock
    ) -> None:
        self._folder = folder
        self._index = index
        self._lock = lock
        self._records = records
        self._behind: set[str] = set()
        self._given_up: dict[str, str] = {}

    def sweep(self, now: float) -> int:
        """Bury, forget and unlink what is due; how many entries expired since the last sweep. Takes both locks."""
        with self._lock:
            self._index.advance(now)
            expired = self._index.take_expired()
        self.remove_bodies()
        self.remove_given_up()
        with self._records:
            self._remove_records()
            self._catch_up()
        return expired

    def remove_bodies(self) -> None:
        """Unlink what is removable. Takes the index's lock, and none while unlinking: a dead body gets no new lease."""
        with self._lock:
            removable = self._index.ledger.removable
        for id in removable:
            try:
                self._folder.remove(body_name(id))
            except OSError as error:
                _say("cannot be removed", body_name(id), error)
                continue
            with self._lock:
                self._index.ledger.removed(id)

    def give_up(self, id: str, staged_name: str) -> None:
        """Unlink a staged file, now, with its last follower or at a later sweep; it is counted until it is off the volume."""
        with self._lock:
            self._given_up[staged_name] = id
        self.remove_given_up()

    def remove_given_up(self) -> None:
        """Unlink the staged files that were given up and that nobody follows any more. Takes the index's lock."""
        with self._lock:
            pinned = self._index.ledger.is_pinned
            given_up = {name: id for name, id in self._given_up.items() if not pinned(id)}
        for name, id in given_up.items():
            try:
                self._folder.remove(name)
            except OSError as error:
                _say("cannot be removed", name, error)
                continue
            with self._lock:
                if self._given_up.pop(name, None) is not None:
                    self._index.ledger.drop(id)

    def save(self, entry: Entry) -> None:
        """Write a record now, or where the volume refuses it at a later sweep. The caller holds `records`."""
        with self._or_later(entry.id):
            self._folder.write_record(entry)

    def save_deleted(self, gone: Entry) -> None:
        """As `save`; but a full volume, which deleting is meant to free, loses the record instead.

        A restart then no longer knows the entry, that is all.
        """
        with self._or_later(gone.id):
            try:
                self._folder.write_record(gone)
            except DiskFull:
                self._folder.remove_record(gone.id)

    def remove_record(self, id: str) -> None:
        """Unlink a record, durably, now or where the volume refuses it at a later sweep. The caller holds `records`."""
        with self._or_later(id):
            self._folder.remove_record(id)

    @contextmanager
    def _or_later(self, id: str) -> Iterator[None]:
        try:
            yield
        except (DiskFull, OSError) as error:
            _say("is behind", record_name(id), error)
            self._behind.add(id)
        else:
            self._behind.discard(id)

    def _remove_records(self) -> None:
        with self._lock:
            forgotten = self._index.forgotten
        for id in forgotten:
            try:
                self._folder.remove(record_name(id))
            except OSError as error:
                _say("cannot be removed", record_name(id), error)
                continue
            with self._lock:
                self._index.record_removed(id)

    def _catch_up(self) -> None:
        for id in tuple(self._behind):
            with self._lock:
                entry = self._index.remembered(id)
            if entry is None:
                self.remove_record(id)
            else:
                self.save(entry)


def _say(what: str, name: str, error: Exception) -> None:
    log.warning("%s %s, the next sweep tries again: %s", hinted(name), what, hinted(error))
