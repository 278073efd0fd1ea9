"""Many threads at one store: the first wins, the counts stay exact, no file is lost or left."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypeVar

import pytest

from storage.entry import Entry, EntryState
from storage.errors import EntryExpired, StorageError, StoreFull, UnknownEntry
from storage.folder import body_name, record_name
from storage.store import ResultStore
from tests.storage.conftest import MakeStore
from tests.storage.doubles import Clock, accepted, body_of, entry_id, full_volume, names, publish

R = TypeVar("R")
ONE = entry_id(1)


def at_once(works: list[Callable[[], R]]) -> list[R]:
    """Run all at the same moment, in a thread each; their results in order."""
    barrier = threading.Barrier(len(works))

    def run(work: Callable[[], R]) -> R:
        barrier.wait(10)
        return work()

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(run, works))


def outcome(work: Callable[[], object]) -> str:
    """The name of the error a call raised, or an empty string."""
    try:
        work()
    except StorageError as error:
        return type(error).__name__
    return ""


def test_one_key_at_once_gives_one_entry(store: ResultStore, directory: Path) -> None:
    works: list[Callable[[], Entry]] = [partial(store.accept, accepted(n, key="k")) for n in range(1, 9)]
    winners = {entry.id for entry in at_once(works)}
    assert len(winners) == 1
    assert names(directory) == {record_name(winners.pop())}


def test_a_key_refused_for_a_full_disk_passes_to_the_next(
    store: ResultStore, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with full_volume(monkeypatch, "write"):
        works: list[Callable[[], str]] = [
            partial(outcome, partial(store.accept, accepted(n, key="k"))) for n in range(1, 5)
        ]
        assert at_once(works) == ["DiskFull"] * 4
    assert store.accept(accepted(5, key="k")).id == entry_id(5)
    assert names(directory) == {record_name(entry_id(5))}


def test_staged_at_once_never_over_the_budget(make_store: MakeStore) -> None:
    store = make_store(max_bytes=1000, max_files=4)
    held, written = threading.Barrier(8, timeout=10), threading.Barrier(4, timeout=10)

    def work(number: int) -> str:
        store.accept(accepted(number))
        try:
            with store.stage(entry_id(number)) as staged:
                held.wait()
                told = outcome(partial(staged.write, b"x" * 300))
                written.wait()
                return told
        except StoreFull:
            held.wait()
            return "refused"

    works: list[Callable[[], str]] = [partial(work, n) for n in range(8)]
    assert sorted(at_once(works)) == ["", "", "", "StoreFull"] + ["refused"] * 4
    assert (store.usage().files, store.usage().bytes, store.audit()) == (0, 0, [])


@pytest.mark.parametrize("attempt", range(4))
def test_publishing_against_ending(attempt: int, store: ResultStore) -> None:
    store.accept(accepted())
    with store.stage(ONE) as staged:
        staged.write(b"0123456789")
        published, ended = at_once(
            [
                partial(outcome, lambda: store.publish(staged, content_type="", parts=[], detail={})),
                partial(outcome, lambda: store.end(ONE, {})),
            ]
        )
    state = store.find(ONE).state
    assert (published, ended, state) in (("", "", EntryState.STORED), ("NotStored", "", EntryState.ENDED))
    assert (store.usage().files, store.audit()) == (1 if state is EntryState.STORED else 0, [])


@pytest.mark.parametrize("attempt", range(4))
def test_publishing_against_closing(attempt: int, store: ResultStore) -> None:
    store.accept(accepted())
    staged = store.stage(ONE)
    staged.write(b"0123456789")

    def publish_it() -> str:
        try:
            store.publish(staged, content_type="", parts=[], detail={})
        except ValueError:
            return "closed"
        return ""

    def close() -> str:
        staged.close()
        return ""

    published, _ = at_once([publish_it, close])
    assert store.usage().files == (0 if published else 1)
    assert store.audit() == []


def test_leases_against_deletion_expiry_and_sweeps(store: ResultStore, clock: Clock, directory: Path) -> None:
    for number in (1, 2, 3, 4):
        publish(store, number, entry_id(number).encode())

    def read(number: int) -> int:
        whole = 0
        for _ in range(100):
            try:
                with store.lease(entry_id(number)) as lease:
                    assert body_of(lease) == entry_id(number).encode()
                    whole += 1
            except (EntryExpired, UnknownEntry):
                return whole
        return whole

    def remove(number: int) -> int:
        if number % 2:
            assert outcome(partial(store.delete, entry_id(number))) in ("", "EntryExpired")
        else:
            clock.advance(10.0)
        return store.sweep()

    works: list[Callable[[], int]] = [partial(read, n) for n in (1, 2, 3, 4)]
    works += [partial(remove, n) for n in (1, 2, 3)]
    at_once(works)
    store.sweep()
    assert (store.usage().files, store.usage().bytes, store.audit()) == (0, 0, [])
    assert not any(name.endswith(".body") for name in names(directory))


def test_one_lease_closed_by_many(store: ResultStore, directory: Path) -> None:
    publish(store, 1, b"0123456789")
    lease, other = store.lease(ONE), store.lease(ONE)
    store.delete(ONE)
    at_once([lease.close] * 6)
    assert body_of(other) == b"0123456789"
    assert (store.usage().files, body_name(ONE) in names(directory)) == (1, True)
    other.close()
    assert (store.usage().files, names(directory)) == (0, {record_name(ONE)})


def test_deleted_once_by_many(store: ResultStore) -> None:
    publish(store, 1, b"1")
    works: list[Callable[[], str]] = [partial(outcome, partial(store.delete, ONE))] * 4
    assert sorted(at_once(works)) == ["", "EntryExpired", "EntryExpired", "EntryExpired"]


def test_a_worker_many_readers_and_a_sweeper(make_store: MakeStore, clock: Clock, directory: Path) -> None:
    store = make_store(max_bytes=500, max_files=3, max_file_bytes=200)
    done = threading.Event()

    def produce() -> int:
        published = 0
        for number in range(1, 16):
            store.accept(accepted(number))
            try:
                with store.stage(entry_id(number)) as staged:
                    staged.write(entry_id(number).encode() * 8)
                    store.publish(staged, content_type="", parts=[], detail={})
                    published += 1
            except StoreFull:
                store.end(entry_id(number), {"code": "result_store_full"})
                clock.advance(4.0)
        done.set()
        return published

    def consume() -> int:
        read = 0
        while not done.is_set():
            usage = store.usage()
            assert usage.files <= usage.limit_files
            assert usage.bytes <= usage.limit_bytes
            for number in range(1, 16):
                try:
                    with store.lease(entry_id(number)) as lease:
                        assert body_of(lease) == entry_id(number).encode() * 8
                        read += 1
                except StorageError:
                    continue
            store.sweep()
        return read

    published, *_ = at_once([produce, consume])
    assert published >= 3
    clock.advance(30.0)
    store.sweep()
    assert (store.usage().files, store.usage().bytes, store.audit(), names(directory)) == (0, 0, [], set())
