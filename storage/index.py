"""What a result store knows: its entries, their keys, what is due and what fills the budget; pure, no I/O, no clock.

`now` (epoch seconds) is an argument wherever time matters. Look-ups judge expiry by themselves and change nothing;
`advance` turns what is due into tombstones and forgets old ones, and leaves in `ledger.removable` and `forgotten`
what the caller has to unlink.

The clock may be set. Set forward, it expires what is due by it at the next look-up or `advance`. Set back, it lets an
entry that was due but not yet buried live on until its moment comes again; what was buried is a tombstone without
parts or body and stays one, and what was forgotten stays unknown. Expiry writes no record, so a restart under a clock
set back finds what had expired as ended, without its result, until its moment comes again.
"""

import heapq
from dataclasses import dataclass

from storage.budget import Budget, Usage
from storage.entry import Entry, EntryState
from storage.errors import EntryExpired, NotStored, UnknownEntry
from storage.ledger import Ledger

MAX_ENDED = 20_000
MAX_IDLE_ITEMS = 1000  # of the schedule, beyond twice the entries


@dataclass(frozen=True, slots=True)
class Contents:
    """What ought to lie on the volume: states of the entries and sizes of the files by id, ids waiting for unlink."""

    states: dict[str, EntryState]
    stored: dict[str, int]
    staged: dict[str, int]
    removable: frozenset[str]
    forgotten: frozenset[str]


class ResultIndex:
    """Owner of the entries of one store and of their `ledger`; its caller holds the lock.

    Entries that ended or are gone are remembered up to `max_ended`; beyond, those that ended first are forgotten.
    """

    def __init__(self, budget: Budget, ttl_seconds: float, max_ended: int = MAX_ENDED) -> None:
        self.ledger = Ledger(budget)
        self._ttl_seconds = ttl_seconds
        self._max_ended = max_ended
        self._entries: dict[str, Entry] = {}
        self._keys: dict[tuple[str, str], str] = {}
        self._publishing: set[str] = set()
        self._due: list[tuple[float, str]] = []
        self._ended: dict[str, None] = {}
        self._forgotten: dict[str, None] = {}
        self._expired = 0

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Every entry remembered, tombstones too."""
        return tuple(self._entries.values())

    @property
    def forgotten(self) -> tuple[str, ...]:
        """Ids whose records are to be unlinked."""
        return tuple(self._forgotten)

    def contents(self) -> Contents:
        """A copy of what ought to lie on the volume."""
        return Contents(
            states={id: entry.state for id, entry in self._entries.items()},
            stored=self.ledger.stored,
            staged=self.ledger.staged,
            removable=frozenset(self.ledger.removable),
            forgotten=frozenset(self._forgotten),
        )

    def remembered(self, id: str) -> Entry | None:
        """The entry, even where it is gone; None where there is none."""
        return self._entries.get(id)

    def find(self, id: str, now: float) -> Entry:
        """The entry, accepted, stored or ended; UnknownEntry, EntryExpired."""
        entry = self._entries.get(id)
        if entry is None or now >= self._forget_at(entry):
            raise UnknownEntry(id)
        if entry.state_at(now) is EntryState.GONE:
            raise EntryExpired(id, entry.owner)
        return entry

    def find_key(self, owner: str, key: str, now: float) -> Entry | None:
        """The entry that holds this owner's key; a key is free again once its entry is gone."""
        id = self._keys.get((owner, key))
        if id is None or self._entries[id].state_at(now) is EntryState.GONE:
            return None
        return self._entries[id]

    def usage(self) -> Usage:
        """Counts beside limits."""
        ledger, budget = self.ledger, self.ledger.budget
        return Usage(
            files=ledger.files,
            bytes=ledger.bytes,
            limit_bytes=budget.max_bytes,
            limit_files=budget.max_files,
            max_file_bytes=budget.max_file_bytes,
            ttl_seconds=self._ttl_seconds,
            full=ledger.full,
        )

    def check_new(self, entry: Entry) -> None:
        """Raise ValueError unless the entry is accepted and nothing of its id is left here."""
        if entry.state is not EntryState.ACCEPTED:
            raise ValueError("Only an accepted entry can be added.")
        if entry.id in self._entries or entry.id in self._forgotten or self.ledger.has(entry.id):
            raise ValueError("This id is taken; draw another one.")

    def add(self, entry: Entry) -> None:
        """Remember an accepted entry; ValueError as `check_new`."""
        self.check_new(entry)
        self._entries[entry.id] = entry
        self._claim_key(entry)

    def load(self, entry: Entry, now: float) -> None:
        """Remember an entry of an earlier run; a stored one brings its body, whatever the limits say now."""
        self._entries[entry.id] = entry
        if entry.state is EntryState.STORED:
            self.ledger.restore(entry.id, entry.size_bytes)
        if entry.state_at(now) is not EntryState.GONE:
            self._claim_key(entry)
        if entry.state in (EntryState.ENDED, EntryState.GONE):
            self._remember_ended(entry.id)
        self._schedule(entry)

    def withdraw(self, id: str, now: float) -> None:
        """Forget an accepted entry as if it never was; UnknownEntry, EntryExpired, NotStored."""
        entry = self.accepted(id, now)
        self._free_key(entry)
        self._publishing.discard(id)
        del self._entries[id]

    def free_key(self, id: str, now: float) -> None:
        """Let another entry have this one's key, unless it has a result or gets one; UnknownEntry, EntryExpired."""
        entry = self.find(id, now)
        if entry.state is EntryState.ACCEPTED and id not in self._publishing:
            self._free_key(entry)

    def accepted(self, id: str, now: float) -> Entry:
        """The entry while it still waits for its result; UnknownEntry, EntryExpired, NotStored where it has ended."""
        entry = self.find(id, now)
        if entry.state is not EntryState.ACCEPTED:
            raise NotStored(id, "This entry has already ended; submit the request again.")
        return entry

    def begin_publishing(self, id: str, now: float) -> Entry:
        """The accepted entry whose body is about to be published, with its key, but for one that another entry has.

        A key that was freed meanwhile is its own again. UnknownEntry, EntryExpired, NotStored.
        """
        entry = self.accepted(id, now)
        self._publishing.add(id)
        if self.find_key(entry.owner, entry.idempotency_key, now) is None:
            self._claim_key(entry)
        return self._with_held_key(entry)

    def publish(self, stored: Entry) -> None:
        """The staged file of this accepted entry became its body."""
        self._publishing.discard(stored.id)
        self.ledger.settle(stored.id)
        self._entries[stored.id] = stored
        self._schedule(stored)

    def end(self, entry: Entry) -> Entry:
        """This accepted entry ended without a result; it is returned without its key, if that was freed."""
        ended = self._with_held_key(entry)
        self._publishing.discard(ended.id)
        self._entries[ended.id] = ended
        self._schedule(ended)
        self._remember_ended(ended.id)
        return ended

    def delete(self, id: str, now: float) -> Entry:
        """Make a stored or ended entry a tombstone and return it; UnknownEntry, EntryExpired, NotStored."""
        entry = self.find(id, now)
        if entry.state is EntryState.ACCEPTED:
            raise NotStored(id, "This entry is not finished yet; cancel it or wait for its result.")
        return self._bury(entry, now)

    def pin(self, id: str, now: float) -> Entry:
        """Keep the body of a stored entry on the volume; UnknownEntry, EntryExpired, NotStored."""
        entry = self.find(id, now)
        if entry.state is not EntryState.STORED:
            raise NotStored(id, "There is no result to read; wait for it, or look up why there is none.")
        self.ledger.pin(id)
        return entry

    def advance(self, now: float) -> None:
        """Bury what has expired and forget what was gone for one TTL."""
        while self._due and self._due[0][0] <= now:
            entry = self._entries.get(heapq.heappop(self._due)[1])
            if entry is None or entry.expires_at is None or now < entry.expires_at:
                continue
            if entry.state is not EntryState.GONE:
                self._bury(entry, entry.expires_at)
                self._expired += 1
            elif now >= self._forget_at(entry):
                self._forget(entry)

    def take_expired(self) -> int:
        """Number of entries that expired since this was last asked."""
        expired, self._expired = self._expired, 0
        return expired

    def record_removed(self, id: str) -> None:
        """The record of a forgotten entry is off the volume."""
        del self._forgotten[id]

    def _forget_at(self, entry: Entry) -> float:
        return float("inf") if entry.expires_at is None else entry.expires_at + self._ttl_seconds

    def _schedule(self, entry: Entry) -> None:
        if entry.expires_at is None:
            return
        heapq.heappush(self._due, self._due_item(entry))
        if (
            len(self._due) > 2 * len(self._entries) + MAX_IDLE_ITEMS
        ):  # most are of entries forgotten before their time
            self._due = [
                self._due_item(held) for held in self._entries.values() if held.expires_at is not None
            ]
            heapq.heapify(self._due)

    def _due_item(self, entry: Entry) -> tuple[float, str]:
        """The next moment at which something is to happen to an entry that has an expiry."""
        gone = entry.state is EntryState.GONE
        return (self._forget_at(entry) if gone else entry.expires_at or 0.0, entry.id)

    def _bury(self, entry: Entry, at: float) -> Entry:
        gone = entry.gone(at)
        self._entries[entry.id] = gone
        self.ledger.condemn(entry.id)
        self._schedule(gone)
        self._remember_ended(entry.id)
        return gone

    def _remember_ended(self, id: str) -> None:
        self._ended.setdefault(id)
        while len(self._ended) > self._max_ended:
            self._forget(self._entries[next(iter(self._ended))])

    def _forget(self, entry: Entry) -> None:
        self._free_key(entry)
        del self._ended[entry.id]
        del self._entries[entry.id]
        self._forgotten[entry.id] = None

    def _claim_key(self, entry: Entry) -> None:
        if entry.idempotency_key:
            self._keys[entry.owner, entry.idempotency_key] = entry.id

    def _with_held_key(self, entry: Entry) -> Entry:
        is_held = self._keys.get((entry.owner, entry.idempotency_key)) == entry.id
        return entry if is_held else entry.evolve(idempotency_key="")

    def _free_key(self, entry: Entry) -> None:
        key = (entry.owner, entry.idempotency_key)
        if self._keys.get(key) == entry.id:
            del self._keys[key]
