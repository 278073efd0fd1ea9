"""The store: what is accepted, staged, published, leased, expired and deleted."""

import hashlib
import os
import threading
import tracemalloc
from pathlib import Path

import pytest

from storage.budget import Budget
from storage.entry import Entry, EntryState, Part
from storage.errors import EntryExpired, NotStored, ResultTooLarge, StoreFull, UnknownEntry
from storage.folder import body_name, record_name
from storage.store import ResultStore
from tests.storage.conftest import MakeStore
from tests.storage.doubles import Clock, accepted, body_of, entry_id, names, open_descriptors, publish

ONE, TWO = entry_id(1), entry_id(2)


def test_a_result_on_its_way(store: ResultStore, clock: Clock, directory: Path) -> None:
    entry = store.accept(accepted())
    assert store.find(ONE) == entry
    assert names(directory) == {record_name(ONE)}
    clock.advance(5.0)
    with store.stage(ONE) as staged:
        staged.write(b"hello, ")
        staged.write(b"world")
        assert (store.usage().files, store.usage().bytes) == (1, 12)
        parts = [Part("body", 0, "text/plain", 0, 12), Part("audio", 0, "audio/mpeg", 7, 5, 1.5, "a.mp3")]
        result = store.publish(staged, content_type="text/plain", parts=parts, detail={"operation": "plan"})
    assert store.find(ONE) == result
    assert (result.state, result.expires_at, result.created_at) == (EntryState.STORED, 1015.0, 1000.0)
    assert (result.size_bytes, result.sha256) == (12, hashlib.sha256(b"hello, world").hexdigest())
    assert (result.content_type, result.parts, result.detail) == (
        "text/plain",
        tuple(parts),
        {"operation": "plan"},
    )
    assert (store.usage().files, store.usage().bytes) == (1, 12)
    assert names(directory) == {record_name(ONE), body_name(ONE)}
    assert (directory / body_name(ONE)).stat().st_mode & 0o777 == 0o600


def test_nothing_of_a_store_stays_open(store: ResultStore) -> None:
    before = open_descriptors()
    publish(store, 1, b"1")
    store.lease(ONE).close()
    store.delete(ONE)
    store.sweep()
    store.audit()
    assert open_descriptors() == before


def test_a_staged_file_that_is_left_goes(store: ResultStore, directory: Path) -> None:
    store.accept(accepted())
    with store.stage(ONE) as staged:
        staged.write(b"half")
        assert store.usage().files == 1
    assert names(directory) == {record_name(ONE)}
    assert (store.usage().files, store.usage().bytes) == (0, 0)
    with store.stage(ONE) as staged:
        assert store.usage().files == 1


def test_only_an_accepted_entry_is_staged_and_once_at_a_time(store: ResultStore) -> None:
    with pytest.raises(UnknownEntry):
        store.stage(ONE)
    store.accept(accepted())
    with store.stage(ONE), pytest.raises(ValueError, match="one file"):
        store.stage(ONE)
    store.end(ONE, {})
    with pytest.raises(NotStored):
        store.stage(ONE)


def test_a_full_store_accepts_nothing_more(store: ResultStore) -> None:
    for number in (1, 2, 3):
        publish(store, number, b"12345")
        store.check_accepting()
    publish(store, 4, b"12345")
    with pytest.raises(StoreFull, match="4 of 4 files and 20 of 1000 bytes"):
        store.check_accepting()
    store.accept(accepted(5))
    with pytest.raises(StoreFull):
        store.stage(entry_id(5))
    assert (store.usage().files, store.usage().full) == (4, True)


def test_bytes_fill_a_store_too(make_store: MakeStore) -> None:
    store = make_store(max_bytes=10)
    publish(store, 1, b"12345")
    store.accept(accepted(2))
    with store.stage(TWO) as staged:
        staged.write(b"6789")
        store.check_accepting()
        with pytest.raises(StoreFull):
            staged.write(b"01")
        with pytest.raises(StoreFull):
            store.publish(staged, content_type="", parts=[], detail={})
    assert (store.usage().bytes, store.find(TWO).state, store.audit()) == (5, EntryState.ACCEPTED, [])
    with store.stage(TWO) as staged:
        staged.write(b"67890")
        with pytest.raises(StoreFull, match="10 of 10 bytes"):
            store.check_accepting()


def test_one_result_has_a_limit_of_its_own(store: ResultStore, directory: Path) -> None:
    store.accept(accepted())
    with store.stage(ONE) as staged:
        staged.write(b"x" * 400)
        with pytest.raises(ResultTooLarge, match="400 bytes"):
            staged.write(b"x")
    assert names(directory) == {record_name(ONE)}


def test_what_expires_while_a_file_grows_makes_room(make_store: MakeStore, clock: Clock) -> None:
    store = make_store(max_bytes=10)
    publish(store, 1, b"1234567890"[:9])
    store.accept(accepted(2))
    with store.stage(TWO) as staged:
        clock.advance(10.0)
        staged.write(b"1234567890")
        assert store.publish(staged, content_type="", parts=[], detail={}).size_bytes == 10
    assert (store.usage().bytes, store.audit()) == (10, [])


def test_expired_results_no_longer_fill_the_store(store: ResultStore, clock: Clock) -> None:
    for number in (1, 2, 3, 4):
        publish(store, number, b"1")
    clock.advance(10.0)
    store.check_accepting()
    assert store.usage().files == 0
    assert store.sweep() == 4
    assert store.sweep() == 0


def test_expiry_is_seen_by_the_look_up_itself(store: ResultStore, clock: Clock, directory: Path) -> None:
    publish(store, 1, b"1")
    clock.advance(9.999)
    assert store.find(ONE).state is EntryState.STORED
    clock.advance(0.001)
    for _ in range(2):
        with pytest.raises(EntryExpired):
            store.find(ONE)
        with pytest.raises(EntryExpired):
            store.lease(ONE)
        with pytest.raises(EntryExpired):
            store.delete(ONE)
        store.sweep()
    assert names(directory) == {record_name(ONE)}
    clock.advance(10.0)
    with pytest.raises(UnknownEntry):
        store.find(ONE)
    assert store.sweep() == 0
    assert names(directory) == set()


def test_a_lease_reads_on_past_expiry_and_the_last_one_unlinks(
    store: ResultStore, clock: Clock, directory: Path
) -> None:
    publish(store, 1, b"0123456789")
    first, second = store.lease(ONE), store.lease(ONE)
    clock.advance(25.0)
    assert store.sweep() == 1
    assert (store.usage().files, store.usage().bytes, store.audit()) == (1, 10, [])
    with pytest.raises(UnknownEntry):
        store.find(ONE)
    first.close()
    first.close()
    assert body_of(second) == b"0123456789"
    second.close()
    assert (store.usage().files, store.audit(), names(directory)) == (0, [], set())


def test_a_deleted_result_is_gone_at_once_and_its_bytes_with_the_last_lease(
    store: ResultStore, directory: Path
) -> None:
    publish(store, 1, b"0123456789")
    with store.lease(ONE) as lease:
        store.delete(ONE)
        with pytest.raises(EntryExpired):
            store.find(ONE)
        assert body_of(lease) == b"0123456789"
        assert store.usage().bytes == 10
    assert store.usage().bytes == 0
    assert names(directory) == {record_name(ONE)}
    publish(store, 2, b"1")
    store.delete(TWO)
    assert names(directory) == {record_name(ONE), record_name(TWO)}


def test_an_unfinished_entry_is_neither_read_nor_deleted(store: ResultStore) -> None:
    store.accept(accepted())
    with pytest.raises(NotStored):
        store.lease(ONE)
    with pytest.raises(NotStored):
        store.delete(ONE)
    with pytest.raises(UnknownEntry):
        store.delete(TWO)


def test_a_lease_of_a_damaged_body_is_refused_and_pins_nothing(
    store: ResultStore, directory: Path, clock: Clock
) -> None:
    publish(store, 1, b"0123456789")
    (directory / body_name(ONE)).write_bytes(b"short")
    with pytest.raises(NotStored, match="missing or damaged"):
        store.lease(ONE)
    (directory / body_name(ONE)).unlink()
    with pytest.raises(NotStored, match="missing or damaged"):
        store.lease(ONE)
    assert store.audit() == [f"{body_name(ONE)} is missing."]
    clock.advance(10.0)
    store.sweep()
    assert (store.usage().files, store.audit()) == (0, [])


def test_an_entry_ends_once_and_what_came_first_stays(store: ResultStore, clock: Clock) -> None:
    store.accept(accepted())
    failed = store.end(ONE, {"code": "engine_error"})
    assert (failed.state, failed.expires_at, failed.detail) == (
        EntryState.ENDED,
        1010.0,
        {"code": "engine_error"},
    )
    clock.advance(5.0)
    assert store.end(ONE, {"code": "other"}) == failed == store.find(ONE)
    result = publish(store, 2, b"1")
    assert store.end(TWO, {"code": "cancelled"}) == result
    with pytest.raises(UnknownEntry):
        store.end(entry_id(3), {})
    clock.advance(5.0)
    with pytest.raises(EntryExpired):
        store.end(ONE, {})


def test_an_unfit_detail_ends_nothing(store: ResultStore) -> None:
    store.accept(accepted())
    with pytest.raises(ValueError, match="JSON compliant"):
        store.end(ONE, {"seconds": float("nan")})
    with store.stage(ONE) as staged:
        staged.write(b"12345")
        with pytest.raises(ValueError, match="65536"):
            store.publish(staged, content_type="", parts=[], detail={"a": "x" * 70_000})
        with pytest.raises(ValueError, match="outside"):
            store.publish(staged, content_type="", parts=[Part("body", 0, "", 0, 6)], detail={})
        assert store.find(ONE).state is EntryState.ACCEPTED
        assert store.publish(staged, content_type="", parts=[], detail={}).size_bytes == 5


def test_a_withdrawn_entry_leaves_nothing(store: ResultStore, directory: Path) -> None:
    store.accept(accepted(key="k"))
    store.withdraw(ONE)
    assert names(directory) == set()
    assert store.find_key("", "k") is None
    with pytest.raises(UnknownEntry):
        store.withdraw(ONE)


def test_a_key_brings_back_its_entry_until_that_is_gone(
    store: ResultStore, clock: Clock, directory: Path
) -> None:
    first = store.accept(accepted(1, key="k", owner="a"))
    assert store.accept(accepted(2, key="k", owner="a")) is first
    assert store.accept(accepted(3, key="k", owner="b")).id == entry_id(3)
    assert store.find_key("a", "k") is first
    assert store.find_key("a", "other") is None
    store.end(ONE, {})
    assert store.accept(accepted(2, key="k", owner="a")).state is EntryState.ENDED
    assert record_name(TWO) not in names(directory)
    clock.advance(10.0)
    assert store.accept(accepted(2, key="k", owner="a")).id == TWO


def test_a_freed_key_names_another_also_after_a_restart(store: ResultStore, make_store: MakeStore) -> None:
    store.accept(accepted(1, key="k"))
    store.free_key(ONE)
    assert store.accept(accepted(2, key="k")).id == TWO
    store.end(ONE, {})
    found = make_store().find_key("", "k")
    assert found is not None
    assert found.id == TWO


@pytest.mark.parametrize("is_taken", [False, True], ids=["free", "taken"])
def test_a_result_has_its_freed_key_again_where_nobody_took_it_also_after_a_restart(
    store: ResultStore, make_store: MakeStore, is_taken: bool
) -> None:
    store.accept(accepted(1, key="k"))
    store.free_key(ONE)
    if is_taken:
        store.accept(accepted(2, key="k"))
    with store.stage(ONE) as staged:
        store.publish(staged, content_type="", parts=[], detail={})
    for seen in (store, make_store()):
        found = seen.find_key("", "k")
        assert found is not None
        assert found.id == (TWO if is_taken else ONE)


def test_a_key_that_is_freed_while_its_result_is_published_stays(
    store: ResultStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish = store._folder.publish

    def freeing(staged_name: str, stored: Entry) -> None:
        store.free_key(stored.id)
        publish(staged_name, stored)

    monkeypatch.setattr(store._folder, "publish", freeing)
    store.accept(accepted(1, key="k"))
    with store.stage(ONE) as staged:
        stored = store.publish(staged, content_type="", parts=[], detail={})
    assert (store.find_key("", "k"), store.accept(accepted(2, key="k"))) == (stored, stored)


def test_entries_without_a_key_never_meet(store: ResultStore) -> None:
    assert store.accept(accepted(1)) != store.accept(accepted(2))
    with pytest.raises(ValueError, match="taken"):
        store.accept(accepted(2))


def test_publishing_what_was_withdrawn_or_ended_is_refused(store: ResultStore, directory: Path) -> None:
    store.accept(accepted(1))
    store.accept(accepted(2))
    with store.stage(ONE) as one, store.stage(TWO) as two:
        store.withdraw(ONE)
        store.end(TWO, {})
        with pytest.raises(UnknownEntry):
            store.publish(one, content_type="", parts=[], detail={})
        with pytest.raises(NotStored):
            store.publish(two, content_type="", parts=[], detail={})
        assert store.usage().files == 2
    assert (store.usage().files, names(directory)) == (0, {record_name(TWO)})


def test_a_result_is_published_once(store: ResultStore) -> None:
    store.accept(accepted())
    with store.stage(ONE) as staged:
        store.publish(staged, content_type="", parts=[], detail={})
        with pytest.raises(ValueError, match="closed"):
            store.publish(staged, content_type="", parts=[], detail={})
    assert (store.usage().files, store.find(ONE).size_bytes) == (1, 0)


def test_publication_sweeps_first(store: ResultStore, clock: Clock, directory: Path) -> None:
    publish(store, 1, b"1")
    store.accept(accepted(2))
    with store.stage(TWO) as staged:
        clock.advance(10.0)
        store.publish(staged, content_type="", parts=[], detail={})
    assert names(directory) == {record_name(ONE), record_name(TWO), body_name(TWO)}


def test_the_look_ups_never_wait_for_the_disk(store: ResultStore, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(store, 1, b"1")
    syncing, proceed, real = threading.Event(), threading.Event(), os.fsync

    def slow(fd: int) -> None:
        syncing.set()
        assert proceed.wait(10)
        real(fd)

    monkeypatch.setattr(os, "fsync", slow)
    writer = threading.Thread(target=publish, args=(store, 2, b"2"))
    writer.start()
    assert syncing.wait(10)
    assert store.find(ONE).state is EntryState.STORED
    assert store.find_key("", "k") is None
    store.check_accepting()
    assert store.usage().files == 1
    proceed.set()
    writer.join(10)
    assert store.find(TWO).state is EntryState.STORED


def test_a_store_holds_what_it_knows_and_tombstones_until_they_are_forgotten(
    store: ResultStore, clock: Clock
) -> None:
    assert not store.holds(ONE)
    store.accept(accepted(1))
    publish(store, 2, b"2")
    assert [store.holds(id) for id in (ONE, TWO)] == [True, True]
    store.delete(TWO)
    assert store.holds(TWO)
    clock.advance(10.0)
    store.sweep()
    assert [store.holds(id) for id in (ONE, TWO)] == [True, False]
    store.withdraw(ONE)
    assert not store.holds(ONE)


def test_look_ups_touch_no_disk(store: ResultStore, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(store, 1, b"1")
    clock.advance(10.0)

    def forbidden(*_: object, **__: object) -> object:
        raise AssertionError("a look-up touched the disk")

    for name in ("open", "unlink", "replace", "rename", "fsync", "write", "stat", "scandir"):
        monkeypatch.setattr(os, name, forbidden)
    with pytest.raises(EntryExpired):
        store.find(ONE)
    assert store.find_key("", "k") is None
    assert store.holds(ONE)
    store.check_accepting()
    assert store.usage().files == 0


def test_a_large_result_takes_little_memory(directory: Path, clock: Clock) -> None:
    size, slice_bytes = 64 << 20, 1 << 20
    store = ResultStore(directory, Budget(1 << 30, 4, 1 << 30), 10.0, clock)
    store.recover()
    store.accept(accepted())
    piece = bytes(slice_bytes)
    tracemalloc.start()
    try:
        with store.stage(ONE) as staged:
            for _ in range(size // slice_bytes):
                staged.write(piece)
            result = store.publish(staged, content_type="", parts=[], detail={})
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert result.size_bytes == size
    assert peak < 2 << 20
