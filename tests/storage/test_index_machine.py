"""The index against a model over thousands of random steps."""

from dataclasses import dataclass

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from storage.budget import Budget
from storage.entry import EntryState
from storage.errors import EntryExpired, ResultTooLarge, StorageError, StoreFull, UnknownEntry
from storage.index import ResultIndex
from tests.storage.doubles import accepted, ended, entry_id, stored

TTL = 10.0


@dataclass
class Known:
    """What the model remembers of one entry."""

    state: EntryState
    key: str
    expires_at: float = 0.0
    staged: int | None = None
    body: int | None = None
    pins: int = 0

    def stage_at(self, now: float) -> str:
        if self.state is EntryState.ACCEPTED:
            return "live"
        if now >= self.expires_at + TTL:
            return "unknown"
        return "gone" if self.state is EntryState.GONE or now >= self.expires_at else "live"


entry_numbers = st.integers(1, 6)


class IndexMachine(RuleBasedStateMachine):
    """The index against a naive model that keeps a disk of its own: every file the index allowed until it is unlinked."""

    @initialize(max_bytes=st.integers(1, 60), max_files=st.integers(1, 4), max_file_bytes=st.integers(1, 40))
    def begin(self, max_bytes: int, max_files: int, max_file_bytes: int) -> None:
        self.budget = Budget(max_bytes, max_files, max_file_bytes)
        self.index = ResultIndex(self.budget, TTL)
        self.now = 1000.0
        self.known: dict[str, Known] = {}
        self.next = 0

    def live(self, number: int) -> tuple[str, Known | None]:
        """The id that the number stands for: the most recent entries, and now and then one that never was."""
        id = entry_id(max(self.next - number + 1, 0))
        known = self.known.get(id)
        return id, known if known is not None and known.stage_at(self.now) == "live" else None

    @rule(key=st.sampled_from(["", "", "a", "b"]))
    def accept(self, key: str) -> None:
        holders = [
            id for id, k in self.known.items() if key and k.key == key and k.stage_at(self.now) == "live"
        ]
        found = self.index.find_key("", key, self.now)
        assert [found.id] == holders if found else not holders
        if found is None:
            self.next += 1
            self.index.add(accepted(self.next, key))
            self.known[entry_id(self.next)] = Known(EntryState.ACCEPTED, key)

    @rule(number=entry_numbers)
    def withdraw(self, number: int) -> None:
        id, known = self.live(number)
        if known and known.state is EntryState.ACCEPTED and known.staged is None:
            self.index.withdraw(id, self.now)
            del self.known[id]

    @rule(number=entry_numbers)
    def stage(self, number: int) -> None:
        id, known = self.live(number)
        if known is None or known.state is not EntryState.ACCEPTED or known.staged is not None:
            return
        try:
            self.index.ledger.stage(id)
        except StoreFull:
            assert (
                len(self.disk()) >= self.budget.max_files
                or sum(self.disk().values()) >= self.budget.max_bytes
            )
        else:
            known.staged = 0

    @rule(number=entry_numbers, size=st.integers(0, 45))
    def resize(self, number: int, size: int) -> None:
        id, known = self.live(number)
        if known is None or known.staged is None:
            return
        try:
            self.index.ledger.resize(id, size)
        except ResultTooLarge:
            assert size > self.budget.max_file_bytes
        except StoreFull:
            assert sum(self.disk().values()) - known.staged + size > self.budget.max_bytes
        else:
            known.staged = size

    @rule(number=entry_numbers)
    def drop(self, number: int) -> None:
        id, known = self.live(number)
        if known and known.staged is not None:
            self.index.ledger.drop(id)
            known.staged = None

    @rule(number=entry_numbers, lifetime=st.integers(1, 10))
    def publish(self, number: int, lifetime: int) -> None:
        id, known = self.live(number)
        if known is None or known.staged is None or known.state is not EntryState.ACCEPTED:
            return
        known.state, known.expires_at = EntryState.STORED, self.now + lifetime
        known.body, known.staged = known.staged, None
        self.index.publish(stored(int(id, 16), known.body, known.expires_at, known.key))

    @rule(number=entry_numbers)
    def end(self, number: int) -> None:
        id, known = self.live(number)
        if known and known.state is EntryState.ACCEPTED and known.staged is None:
            known.state, known.expires_at = EntryState.ENDED, self.now + TTL
            self.index.end(ended(int(id, 16), known.expires_at, known.key))

    @rule(number=entry_numbers)
    def delete(self, number: int) -> None:
        id, known = self.live(number)
        if known and known.state is not EntryState.ACCEPTED:
            self.index.delete(id, self.now)
            known.state, known.expires_at = EntryState.GONE, self.now
        else:
            with pytest.raises(StorageError):
                self.index.delete(id, self.now)

    @rule(number=entry_numbers)
    def pin(self, number: int) -> None:
        id, known = self.live(number)
        if known and known.state is EntryState.STORED:
            self.index.pin(id, self.now)
            known.pins += 1
        else:
            with pytest.raises(StorageError):
                self.index.pin(id, self.now)

    @rule(number=entry_numbers)
    def release(self, number: int) -> None:
        known = self.known.get(entry_id(self.next - number + 1))
        if known and known.pins:
            self.index.ledger.release(entry_id(self.next - number + 1))
            known.pins -= 1

    @rule(seconds=st.integers(1, 12))
    def wait(self, seconds: int) -> None:
        self.now += seconds

    @rule()
    def advance(self) -> None:
        self.index.advance(self.now)

    @rule()
    def unlink(self) -> None:
        self.index.advance(self.now)
        for id in self.index.ledger.removable:
            self.known[id].body = None
            self.index.ledger.removed(id)
        for id in self.index.forgotten:
            self.index.record_removed(id)

    def disk(self) -> dict[str, int]:
        """Sizes of the files that lie there."""
        sizes = {
            id: known.body if known.body is not None else known.staged for id, known in self.known.items()
        }
        return {id: size for id, size in sizes.items() if size is not None}

    @invariant()
    def the_disk_never_holds_more_than_the_budget(self) -> None:
        assert len(self.disk()) <= self.budget.max_files
        assert sum(self.disk().values()) <= self.budget.max_bytes
        assert all(size <= self.budget.max_file_bytes for size in self.disk().values())

    @invariant()
    def no_live_or_leased_result_is_removable(self) -> None:
        for id in self.index.ledger.removable:
            assert self.known[id].pins == 0
            assert self.known[id].stage_at(self.now) != "live"

    @invariant()
    def counts_are_exact(self) -> None:
        held = self.disk()
        for id in self.index.ledger.removable:
            del held[id]
        usage = self.index.usage()
        assert (usage.files, usage.bytes) == (len(held), sum(held.values()))

    @invariant()
    def every_look_up_answers_as_the_model(self) -> None:
        for id, known in self.known.items():
            try:
                state: object = self.index.find(id, self.now).state
            except EntryExpired:
                state = "gone"
            except UnknownEntry:
                state = "unknown"
            assert state == (known.state if known.stage_at(self.now) == "live" else known.stage_at(self.now))


IndexMachine.TestCase.settings = settings(
    max_examples=60, stateful_step_count=50, deadline=None, database=None, derandomize=True
)
TestIndexMachine = IndexMachine.TestCase
