"""What is let go of goes from the folder, sooner or later, and what could not be written is written."""

import errno
import os
from pathlib import Path

import pytest

from storage.entry import EntryState
from storage.errors import EntryExpired, NotStored, UnknownEntry
from storage.folder import body_name, record_name
from storage.store import ResultStore
from tests.storage.conftest import MakeStore
from tests.storage.doubles import Clock, accepted, entry_id, full_volume, names, publish

ONE, TWO = entry_id(1), entry_id(2)


def test_the_clearing_follows_the_clock(store: ResultStore, clock: Clock, directory: Path) -> None:
    publish(store, 1, b"1")
    store.accept(accepted(2))
    store.end(TWO, {})
    assert store.sweep() == 0
    clock.advance(10.0)
    assert names(directory) == {record_name(ONE), body_name(ONE), record_name(TWO)}
    assert store.sweep() == 2
    assert names(directory) == {record_name(ONE), record_name(TWO)}
    clock.advance(10.0)
    assert store.sweep() == 0
    assert names(directory) == set()


def test_a_body_that_cannot_be_unlinked_is_tried_again(
    store: ResultStore, directory: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    publish(store, 1, b"0123456789")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError("Operation not permitted")

    with monkeypatch.context() as patch:
        patch.setattr(os, "unlink", refuse)
        store.delete(ONE)
        assert body_name(ONE) in names(directory)
    assert "tries again" in caplog.text
    store.sweep()
    assert (names(directory), store.audit()) == ({record_name(ONE)}, [])


def test_ending_works_on_a_full_disk_and_is_recorded_when_there_is_room(
    store: ResultStore, make_store: MakeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.accept(accepted(1))
    store.accept(accepted(2))
    with full_volume(monkeypatch, "write"):
        failed = store.end(ONE, {"code": "disk_full"})
        store.end(TWO, {"code": "disk_full"})
        store.sweep()
        assert store.find(ONE) == failed
    assert make_store().find(ONE).state is EntryState.ACCEPTED
    store.sweep()
    assert make_store().find(ONE) == failed
    assert make_store().find(TWO).detail == {"code": "disk_full"}


def test_an_end_that_was_never_recorded_is_forgotten_with_its_entry(
    store: ResultStore, clock: Clock, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.accept(accepted(1))
    with full_volume(monkeypatch, "write"):
        store.end(ONE, {})
        clock.advance(20.0)
        store.sweep()
    store.sweep()
    assert (names(directory), store.audit()) == (set(), [])


@pytest.mark.parametrize("number", [errno.EPERM, errno.EIO])
def test_a_record_that_cannot_be_unlinked_keeps_nobody_else_from_working(
    number: int, store: ResultStore, clock: Clock, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for each in (1, 2):
        store.accept(accepted(each))
        store.end(entry_id(each), {})
    clock.advance(20.0)
    with full_volume(monkeypatch, "unlink", number=number):
        publish(store, 3, b"123")
    assert {record_name(ONE), record_name(TWO)} <= names(directory)
    store.sweep()
    assert names(directory) == {record_name(entry_id(3)), body_name(entry_id(3))}
    assert store.audit() == []


@pytest.mark.parametrize("number", [errno.EROFS, errno.EIO, errno.EPERM])
def test_an_end_that_the_volume_refuses_takes_effect_and_is_recorded_later(
    number: int, store: ResultStore, make_store: MakeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.accept(accepted(1))
    with full_volume(monkeypatch, "replace", number=number):
        failed = store.end(ONE, {"code": "engine_error"})
        assert store.sweep() == 0
    assert store.find(ONE) == failed
    assert make_store().find(ONE).state is EntryState.ACCEPTED
    publish(store, 2, b"2")
    assert make_store().find(ONE) == failed


@pytest.mark.parametrize("call", ["replace", "open", "fsync"])
def test_a_deletion_that_the_volume_refuses_takes_effect_and_is_recorded_later(
    call: str, store: ResultStore, make_store: MakeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(store, 1, b"1")
    with full_volume(monkeypatch, call, number=errno.EROFS):
        store.delete(ONE)
        store.sweep()
    with pytest.raises(EntryExpired):
        store.find(ONE)
    store.sweep()
    with pytest.raises(EntryExpired):
        make_store().find(ONE)
    assert store.audit() == []


def test_a_deletion_on_a_full_disk_that_cannot_even_unlink_is_recorded_later(
    store: ResultStore, make_store: MakeStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(store, 1, b"1")
    with full_volume(monkeypatch, "write"), full_volume(monkeypatch, "unlink", number=errno.EIO):
        store.delete(ONE)
    assert make_store().find(ONE).state is EntryState.STORED
    store.sweep()
    with pytest.raises(EntryExpired):
        make_store().find(ONE)


def test_a_withdrawal_that_the_volume_refuses_takes_effect_and_is_recorded_later(
    store: ResultStore, make_store: MakeStore, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.accept(accepted(1, key="k"))
    with full_volume(monkeypatch, "unlink", number=errno.EPERM):
        store.withdraw(ONE)
    assert names(directory) == {record_name(ONE)}
    with pytest.raises(UnknownEntry):
        store.find(ONE)
    store.sweep()
    assert (names(directory), make_store().find_key("", "k")) == (set(), None)


def test_what_is_recorded_at_last_is_not_written_again(
    store: ResultStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.accept(accepted(1))
    with full_volume(monkeypatch, "write"):
        store.end(ONE, {})
    store.sweep()
    with full_volume(monkeypatch, "write", number=errno.EIO):
        store.sweep()
    with full_volume(monkeypatch, "replace", number=errno.EIO):
        assert store.sweep() == 0
    assert store.find(ONE).state is EntryState.ENDED


def test_a_clock_set_back_brings_nothing_back_that_was_cleared(
    store: ResultStore, make_store: MakeStore, clock: Clock
) -> None:
    publish(store, 1, b"1")
    clock.advance(10.0)
    store.sweep()
    clock.advance(-9.0)
    with pytest.raises(EntryExpired):
        store.find(ONE)
    with pytest.raises(EntryExpired):
        store.lease(ONE)
    assert (store.sweep(), store.usage().files, store.audit()) == (0, 0, [])
    again = make_store()
    assert again.find(ONE).detail["code"] == "result_missing"
    with pytest.raises(NotStored):
        again.lease(ONE)
    assert (again.usage().files, again.audit()) == (0, [])


def test_a_clock_set_forward_expires_at_once_and_set_back_again_changes_nothing(
    store: ResultStore, clock: Clock, directory: Path
) -> None:
    publish(store, 1, b"1")
    clock.advance(1e6)
    assert store.sweep() == 1
    clock.advance(-1e6)
    with pytest.raises(UnknownEntry):
        store.find(ONE)
    assert names(directory) == set()


def test_a_staged_file_that_cannot_be_unlinked_is_counted_until_it_is(
    store: ResultStore, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.accept(accepted(1))
    with full_volume(monkeypatch, "unlink", number=errno.EPERM), store.stage(ONE) as staged:
        staged.write(b"12345")
    assert (store.usage().files, store.usage().bytes, store.audit()) == (1, 5, [])
    assert store.end(ONE, {"code": "engine_error"}).state is EntryState.ENDED
    for _ in range(2):
        store.sweep()
        assert (store.usage().files, store.usage().bytes, store.audit()) == (0, 0, [])
    assert names(directory) == {record_name(ONE)}
