"""The real store over a real folder against a model, with restarts in the middle."""

import os
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
from storage.growth import Following
from storage.staging import StagedFile
from storage.store import Lease, ResultStore
from tests.storage.doubles import Clock, accepted, body_of, entry_id

TTL = 10.0
BUDGET = Budget(max_bytes=100, max_files=3, max_file_bytes=60)
recent = st.integers(0, 4)


class Making:
    """A body as it was written, how much of it was offered, and what became of it; shared with its followers."""

    def __init__(self, id: str) -> None:
        self.id = id
        self.text = b""
        self.offered = 0
        self.published: Entry | None = None
        self.is_over = False


class StoreMachine(RuleBasedStateMachine):
    """One writer, some readers and some who follow the writer.

    A restart drops what is staged, every lease and every following, as the end of a process does.
    """

    @initialize()
    def begin(self) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="storage-machine-"))
        self.clock = Clock()
        self.entries: dict[str, Entry] = {}
        self.bodies: dict[str, bytes] = {}
        self.gone_at: dict[str, float] = {}
        self.leases: list[tuple[Lease, bytes]] = []
        self.staged: StagedFile | None = None
        self.making = Making("")
        self.followings: list[tuple[Following, Making]] = []
        self.told: list[str] = []
        self.open()

    def open(self) -> None:
        self.store = ResultStore(self.directory / "jobs", BUDGET, TTL, self.clock, self.told.append)
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
            self.staged, self.making = self.store.stage(id), Making(id)
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
            self.give_up()
        else:
            self.making.text += text

    @precondition(lambda self: self.staged is not None)
    @rule()
    def offer(self) -> None:
        assert self.staged is not None
        self.staged.offer()
        self.making.offered = len(self.making.text)
        assert self.told.pop() == self.making.id

    @precondition(lambda self: self.staged is not None)
    @rule()
    def give_up(self) -> None:
        assert self.staged is not None
        self.staged.close()
        self.staged, self.making.is_over = None, True
        assert self.told.pop() == self.making.id

    @rule(back=recent)
    def follow(self, back: int) -> None:
        id = self.pick(back)
        if self.expected(id) in ("unknown", "gone"):
            with pytest.raises(StorageError):
                self.store.follow(id)
            return
        following = self.store.follow(id)
        assert (following is not None) == (self.staged is not None and self.staged.id == id)
        if following is not None:
            self.followings.append((following, self.making))

    @precondition(lambda self: bool(self.followings))
    @rule()
    def close_following(self) -> None:
        following, _ = self.followings.pop(0)
        following.close()

    @precondition(lambda self: self.staged is not None)
    @rule()
    def publish(self) -> None:
        assert self.staged is not None
        making = self.making
        entry = self.store.publish(
            self.staged, content_type="x", parts=[], detail={"length": len(making.text)}
        )
        self.entries[entry.id], self.bodies[entry.id] = entry, making.text
        self.staged, making.published, making.is_over = None, entry, True
        assert self.told.pop() == making.id

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
        readers = [lease for lease, _ in self.leases] + [following for following, _ in self.followings]
        staged, self.staged = self.staged, None
        self.leases, self.followings = [], []
        self.open()
        # The former process is dead: only its descriptors are closed here, against a folder that is no longer its own.
        for reader in readers:
            reader._release = lambda: None
            reader.close()
        if staged is not None:
            staged._discard = lambda: None
            staged.close()
            self.told.clear()

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
    def followers_see_what_was_offered_and_how_it_ended(self) -> None:
        for following, making in self.followings:
            reach = following.reach()
            assert (reach.offered, reach.published, reach.is_over) == (
                making.offered,
                making.published,
                making.is_over,
            )
            readable = len(making.text) if making.published else making.offered
            assert os.pread(following.fd, readable, 0) == making.text[:readable]

    @invariant()
    def nobody_is_told_of_what_did_not_happen(self) -> None:
        assert self.told == []

    @invariant()
    def folder_and_index_agree(self) -> None:
        assert self.store.audit() == []

    @invariant()
    def counts_are_exact(self) -> None:
        held = {id: len(body) for id, body in self.bodies.items() if self.expected(id) == EntryState.STORED}
        held.update({lease.entry.id: len(body) for lease, body in self.leases})
        held.update({making.id: len(making.text) for _, making in self.followings})
        if self.staged is not None:
            held[self.making.id] = len(self.making.text)
        sizes = list(held.values())
        usage = self.store.usage()
        assert (usage.files, usage.bytes) == (len(sizes), sum(sizes))
        assert usage.files <= BUDGET.max_files
        assert usage.bytes <= BUDGET.max_bytes

    def teardown(self) -> None:
        if hasattr(self, "directory"):
            for lease, _ in self.leases:
                lease.close()
            for following, _ in self.followings:
                following.close()
            if self.staged is not None:
                self.staged.close()
            shutil.rmtree(self.directory)


StoreMachine.TestCase.settings = settings(
    max_examples=12, stateful_step_count=25, deadline=None, database=None, derandomize=True
)
TestStoreMachine = StoreMachine.TestCase
