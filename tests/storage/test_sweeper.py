"""What is let go of goes from the folder, sooner or later, and what could not be written is written."""

import os
from pathlib import Path

import pytest

from storage.entry import EntryState
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
