"""The real store over a real folder against a model, with restarts in the middle."""

import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from storage.budget import Budget
from storage.entry import Entry, EntryState
from storage.errors import EntryExpired, StorageError, StoreFull, UnknownEntry
from storage.staging import StagedFile
from storage.store import Lease, ResultStore
from tests.storage.doubles import Clock, accepted, body_of, entry_id

TTL = 10.0
BUDGET = Budget(max_bytes=100, max_files=3, max_file_bytes=60)
recent = st.integers(0, 4)


class StoreMachine(RuleBasedStateMachine):
    """One writer and some readers; a restart drops what is staged and every lease, as the end of a process does."""

    @initialize()
    def begin(self) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="storage-machine-"))
        self.clock = Clock()
        self.entries: dict[str, Entry] = {}
        self.bodies: dict[str, bytes] = {}
        self.gone_at: dict[str, float] = {}
        self.leases: list[tuple[Lease, bytes]] = []
        self.staged: StagedFile | None = None
        self.text = b""
        self.open()

    def open(self) -> None:
        self.store = ResultStore(self.directory / "jobs", BUDGET, TTL, self.clock)
        left = self.store.recover()
        assert {entry.id for entry in left} == {
            id for id, entry in self.entries.items() if entry.state is EntryState.ACCEPTED
        }

    def expected(self, id: str) -> str:
        now, entry = self.clock(), self.entries.get(id)
        if entry is None:
            return "unknown"
        gone_at = self.gone_at.get(id, entry.expires_at)
        if gone_at is None or now < gone_at:
            return entry.state
        return "gone" if now < gone_at + TTL else "unknown"

    def pick(self, back: int) -> str:
        return entry_id(max(len(self.entries) - back, 0))

    @rule()
    def accept(self) -> None:
        entry = accepted(len(self.entries) + 1)
        self.entries[entry.id] = self.store.accept(entry)

    @rule(back=recent)
    def stage(self, back: int) -> None:
        id = self.pick(back)
        if self.staged is not None or self.expected(id) != EntryState.ACCEPTED:
            return
        try:
            self.staged, self.text = self.store.stage(id), b""
        except StoreFull:
            with pytest.raises(StoreFull):
                self.store.check_accepting()

    @precondition(lambda self: self.staged is not None)
    @rule(text=st.binary(min_size=1, max_size=40))
    def write(self, text: bytes) -> None:
        assert self.staged is not None
        try:
            self.staged.write(text)
        except StorageError:
            self.staged.close()
            self.staged = None
        else:
            self.text += text

    @precondition(lambda self: self.staged is not None)
    @rule()
    def publish(self) -> None:
        assert self.staged is not None
        entry = self.store.publish(self.staged, content_type="x", parts=[], detail={"length": len(self.text)})
        self.entries[entry.id], self.bodies[entry.id] = entry, self.text
        self.staged = None

    @rule(back=recent)
    def end(self, back: int) -> None:
        id = self.pick(back)
        if self.expected(id) == EntryState.ACCEPTED and (self.staged is None or self.staged.id != id):
            self.entries[id] = self.store.end(id, {"code": "cancelled"})

    @rule(back=recent)
    def delete(self, back: int) -> None:
        id = self.pick(back)
        if self.expected(id) in (EntryState.STORED, EntryState.ENDED):
            self.store.delete(id)
            self.gone_at[id] = self.clock()
        else:
            with pytest.raises(StorageError):
                self.store.delete(id)

    @rule(back=recent)
    def lease(self, back: int) -> None:
        id = self.pick(back)
        if self.expected(id) == EntryState.STORED:
            self.leases.append((self.store.lease(id), self.bodies[id]))

    @precondition(lambda self: bool(self.leases))
    @rule()
    def close_lease(self) -> None:
        lease, body = self.leases.pop(0)
        assert body_of(lease) == body
        lease.close()

    @rule(seconds=st.floats(0.1, 12.0))
    def wait(self, seconds: float) -> None:
        self.clock.advance(seconds)

    @rule()
    def sweep(self) -> None:
        self.store.sweep()

    @rule()
    def restart(self) -> None:
        for lease, body in self.leases:
            assert body_of(lease) == body
        abandoned, self.staged = (self.leases, self.staged), None
        self.leases = []
        self.open()
        # The former process is dead: only its descriptors are closed here, against a folder that is no longer its own.
        for lease, _ in abandoned[0]:
            lease._release = lambda: None
            lease.close()
        if abandoned[1] is not None:
            abandoned[1]._discard = lambda: None
            abandoned[1].close()

    @invariant()
    def every_look_up_answers_as_the_model(self) -> None:
        for id in self.entries:
            try:
                found = self.store.find(id)
            except EntryExpired:
                assert self.expected(id) == "gone"
            except UnknownEntry:
                assert self.expected(id) == "unknown"
            else:
                assert found == self.entries[id]
                assert self.expected(id) == found.state

    @invariant()
    def folder_and_index_agree(self) -> None:
        assert self.store.audit() == []

    @invariant()
    def counts_are_exact(self) -> None:
        held = {id: len(body) for id, body in self.bodies.items() if self.expected(id) == EntryState.STORED}
        held.update({lease.entry.id: len(body) for lease, body in self.leases})
        sizes = list(held.values()) + ([len(self.text)] if self.staged is not None else [])
        usage = self.store.usage()
        assert (usage.files, usage.bytes) == (len(sizes), sum(sizes))
        assert usage.files <= BUDGET.max_files
        assert usage.bytes <= BUDGET.max_bytes

    def teardown(self) -> None:
        if hasattr(self, "directory"):
            for lease, _ in self.leases:
                lease.close()
            if self.staged is not None:
                self.staged.close()
            shutil.rmtree(self.directory)


StoreMachine.TestCase.settings = settings(
    max_examples=10, stateful_step_count=25, deadline=None, database=None, derandomize=True
)
TestStoreMachine = StoreMachine.TestCase
