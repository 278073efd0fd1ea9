"""Clearing up behind the index: what it let go of is unlinked, what a full volume refused is written later."""

import logging
import threading

from storage.entry import Entry
from storage.errors import DiskFull
from storage.folder import Folder, body_name, record_name
from storage.index import ResultIndex

log = logging.getLogger("storage")


class Sweeper:
    """Owner of the list of unsaved records, which `records` guards; folder, index and both locks are the store's."""

    def __init__(
        self, folder: Folder, index: ResultIndex, lock: threading.Lock, records: threading.Lock
    ) -> None:
        self._folder = folder
        self._index = index
        self._lock = lock
        self._records = records
        self._unsaved: set[str] = set()

    def sweep(self, now: float) -> int:
        """Bury, forget and unlink what is due; how many entries expired since the last sweep. Takes both locks."""
        with self._lock:
            self._index.advance(now)
            expired = self._index.take_expired()
        self.remove_bodies()
        with self._records:
            self._remove_records()
            self._save_unsaved()
        return expired

    def remove_bodies(self) -> None:
        """Unlink what is removable. Takes the index's lock, and none while unlinking: a dead body gets no new lease."""
        with self._lock:
            removable = self._index.ledger.removable
        for id in removable:
            try:
                self._folder.remove(body_name(id))
            except OSError as error:
                log.warning("%s cannot be removed, the next sweep tries again: %s", body_name(id), error)
                continue
            with self._lock:
                self._index.ledger.removed(id)

    def save(self, entry: Entry) -> None:
        """Write a record now, or on a full volume at a later sweep. The caller holds `records`."""
        try:
            self._folder.write_record(entry)
        except DiskFull:
            log.warning("The record of %s is not written yet, the volume is full", entry.id)
            self._unsaved.add(entry.id)
        else:
            self._unsaved.discard(entry.id)

    def _remove_records(self) -> None:
        with self._lock:
            forgotten = self._index.forgotten
        for id in forgotten:
            self._folder.remove(record_name(id))
            with self._lock:
                self._index.record_removed(id)

    def _save_unsaved(self) -> None:
        for id in tuple(self._unsaved):
            with self._lock:
                entry = self._index.remembered(id)
            if entry is None:
                self._unsaved.discard(id)
            else:
                self.save(entry)
