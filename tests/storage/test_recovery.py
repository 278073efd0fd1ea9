"""What a start finds and what it makes of it."""

import errno
import json
import logging
import os
import re
from pathlib import Path

import pytest

from storage.budget import Budget
from storage.entry import MAX_DETAIL_BYTES, EntryState
from storage.errors import EntryExpired, UnknownEntry
from storage.folder import Listing, body_name, record_name
from storage.index import Contents
from storage.recovery import audit
from storage.store import ResultStore
from tests.storage.conftest import MakeStore
from tests.storage.doubles import (
    Clock,
    accepted,
    body_of,
    ended,
    entry_id,
    full_volume,
    names,
    publish,
    stored,
)

ONE, TWO, THREE = entry_id(1), entry_id(2), entry_id(3)


def test_accepted_entries_are_handed_over_in_the_order_of_their_creation(
    store: ResultStore, directory: Path, clock: Clock
) -> None:
    late, early = accepted(1, created_at=1002.0), accepted(2, created_at=1001.0)
    for entry in (late, early):
        store.accept(entry)
    publish(store, 3, b"123")
    again = ResultStore(directory, Budget(100, 4, 100), 10.0, clock)
    assert again.recover() == (early, late)
    assert again.find(ONE) == late
    with pytest.raises(ValueError, match="recovered once"):
        again.recover()
    assert again.usage().bytes == 3


def test_results_and_their_expiry_survive_exactly(
    store: ResultStore, make_store: MakeStore, clock: Clock
) -> None:
    clock.advance(0.123456789)
    entry = publish(store, 1, b"0123456789", {"operation": "sketch", "metrics": {"seconds": 1.5}})
    clock.advance(9.0)
    again = make_store()
    assert again.find(ONE) == entry
    with again.lease(ONE) as lease:
        assert body_of(lease) == b"0123456789"
    clock.advance(1.0)
    with pytest.raises(EntryExpired):
        again.find(ONE)


def test_tombstones_answer_across_a_restart(store: ResultStore, make_store: MakeStore, clock: Clock) -> None:
    publish(store, 1, b"1")
    publish(store, 2, b"2")
    store.delete(TWO)
    clock.advance(10.0)
    store.sweep()
    again = make_store()
    with pytest.raises(EntryExpired):
        again.find(ONE)
    with pytest.raises(UnknownEntry):
        again.find(TWO)
    clock.advance(10.0)
    last = make_store()
    with pytest.raises(UnknownEntry):
        last.find(ONE)


def test_what_expired_while_the_server_was_down_is_removed(
    store: ResultStore, make_store: MakeStore, clock: Clock, directory: Path
) -> None:
    publish(store, 1, b"1")
    store.accept(accepted(2, key="k"))
    store.end(TWO, {"code": "engine_error"})
    clock.advance(15.0)
    again = make_store()
    assert names(directory) == {record_name(ONE), record_name(TWO)}
    assert (again.usage().files, again.audit(), again.find_key("", "k")) == (0, [], None)
    clock.advance(15.0)
    make_store()
    assert names(directory) == set()


def test_ended_entries_and_keys_survive(store: ResultStore, make_store: MakeStore) -> None:
    store.accept(accepted(1, key="k", owner="o"))
    failed = store.end(ONE, {"code": "engine_error", "error": "It broke."})
    again = make_store()
    assert again.find_key("o", "k") == failed == again.accept(accepted(2, key="k", owner="o"))


def test_leftovers_are_removed_and_foreign_files_are_not(
    store: ResultStore, make_store: MakeStore, directory: Path, tmp_path: Path
) -> None:
    publish(store, 1, b"1")
    foreign = {"notes.txt", "a.json", f"{TWO}.json", ".staging-mine", f"{THREE}.body.part", "deadbeef.body"}
    for name in foreign:
        (directory / name).write_text("{}")
    (directory / body_name(TWO)).write_bytes(b"beside a record that is not ours")
    (directory / f".staging-{ONE}-0").write_bytes(b"half")
    (directory / f".staging-{THREE}-77").write_bytes(b"half")
    (directory / body_name(THREE)).write_bytes(b"no record at all")
    (directory / f".staging-{TWO}-1").symlink_to(tmp_path)
    again = make_store()
    kept = {body_name(ONE), record_name(ONE), body_name(TWO), f".staging-{TWO}-1"}
    assert names(directory) == foreign | kept
    assert again.usage().files == 1
    assert again.audit() == [
        f"{body_name(TWO)} belongs to no entry.",
        f"{record_name(TWO)} is the record of no known entry.",
    ]


def test_a_record_that_cannot_be_read_is_left_and_said(
    store: ResultStore, make_store: MakeStore, directory: Path, caplog: pytest.LogCaptureFixture
) -> None:
    publish(store, 1, b"1")
    publish(store, 2, b"2")
    (directory / record_name(ONE)).write_bytes(b'{"version": 1')
    os.mkfifo(directory / record_name(THREE))
    with caplog.at_level(logging.WARNING, "storage"):
        again = make_store()
    assert "left alone" in caplog.text
    assert (again.find(TWO).state, again.usage().files) == (EntryState.STORED, 1)
    assert body_name(ONE) in names(directory)
    with pytest.raises(UnknownEntry):
        again.find(ONE)


@pytest.mark.parametrize("damage", ["missing", "short", "long"])
def test_a_result_without_its_whole_body_is_an_ended_entry(
    damage: str, store: ResultStore, make_store: MakeStore, directory: Path, clock: Clock
) -> None:
    entry = publish(store, 1, b"0123456789", {"operation": "synth"})
    body = directory / body_name(ONE)
    if damage == "missing":
        body.unlink()
    else:
        body.write_bytes(b"0" * (9 if damage == "short" else 11))
    again = make_store()
    for found in (again.find(ONE), make_store().find(ONE)):
        assert (found.state, found.expires_at) == (EntryState.ENDED, entry.expires_at)
        assert (found.detail["code"], found.detail["operation"]) == ("result_missing", "synth")
        assert (found.size_bytes, found.parts) == (0, ())
    assert names(directory) == {record_name(ONE)}
    assert (again.usage().files, again.audit()) == (0, [])


def test_a_full_volume_does_not_keep_a_store_from_starting(
    store: ResultStore, make_store: MakeStore, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(store, 1, b"1")
    publish(store, 2, b"2")
    (directory / body_name(ONE)).unlink()
    with full_volume(monkeypatch, "write"):
        again = make_store()
    assert (again.find(ONE).state, again.find(TWO).state) == (EntryState.ENDED, EntryState.STORED)
    assert (again.audit(), names(directory)) == ([], {record_name(ONE), record_name(TWO), body_name(TWO)})


def test_a_detail_at_its_limit_gives_way_to_the_reason(
    store: ResultStore, make_store: MakeStore, directory: Path
) -> None:
    publish(store, 1, b"1", {"a": "x" * (MAX_DETAIL_BYTES - len(json.dumps({"a": ""})))})
    (directory / body_name(ONE)).unlink()
    assert set(make_store().find(ONE).detail) == {"code", "error"}


def test_a_body_beside_a_record_that_is_not_stored_is_an_orphan(
    store: ResultStore, make_store: MakeStore, directory: Path
) -> None:
    store.accept(accepted(1))
    store.accept(accepted(2))
    store.end(TWO, {})
    for id in (ONE, TWO):
        (directory / body_name(id)).write_bytes(b"a crash came between body and record")
    again = make_store()
    assert (again.find(ONE).state, again.find(TWO).state) == (EntryState.ACCEPTED, EntryState.ENDED)
    assert names(directory) == {record_name(ONE), record_name(TWO)}


def test_lowered_limits_keep_what_lives_and_refuse_what_is_new(
    store: ResultStore, make_store: MakeStore
) -> None:
    for number in (1, 2, 3):
        publish(store, number, b"0123456789")
    again = make_store(max_bytes=15, max_files=2, max_file_bytes=5)
    usage = again.usage()
    assert (usage.files, usage.bytes, usage.full) == (3, 30, True)
    with again.lease(THREE) as lease:
        assert body_of(lease) == b"0123456789"


def test_the_audit_names_each_difference() -> None:
    found = Listing(frozenset({ONE, entry_id(9)}), {ONE: 5, TWO: 1, entry_id(8): 2}, {"a": 3})
    states = {ONE: EntryState.STORED, THREE: EntryState.ENDED, entry_id(4): EntryState.GONE}
    known = Contents(states, {ONE: 6, THREE: 1}, {ONE: 4}, frozenset({TWO}), frozenset())
    assert audit(found, known) == [
        f"{body_name(entry_id(8))} belongs to no entry.",
        f"{body_name(THREE)} is missing.",
        f"{body_name(ONE)} has 5 bytes instead of 6.",
        "Staged files have [3] bytes, counted are [4].",
        f"{record_name(entry_id(9))} is the record of no known entry.",
        f"{record_name(THREE)} is missing.",
    ]


def test_the_audit_accepts_what_only_waits_for_its_unlink() -> None:
    found = Listing(frozenset({ONE, TWO}), {ONE: 5, TWO: 1}, {})
    known = Contents({ONE: EntryState.STORED}, {ONE: 5}, {}, frozenset({TWO}), frozenset({TWO}))
    assert audit(found, known) == []


def test_the_doubles_are_the_entries_they_claim_to_be() -> None:
    assert (stored().state, ended().state, accepted().state) == (
        EntryState.STORED,
        EntryState.ENDED,
        EntryState.ACCEPTED,
    )


@pytest.mark.parametrize("number", [errno.EPERM, errno.EIO])
def test_leftovers_that_cannot_be_removed_do_not_keep_a_store_from_starting(
    number: int,
    store: ResultStore,
    make_store: MakeStore,
    directory: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    publish(store, 1, b"1")
    leftovers = {f".staging-{TWO}-0", body_name(THREE)}
    for name in leftovers:
        (directory / name).write_bytes(b"half")
    with full_volume(monkeypatch, "unlink", number=number):
        again = make_store()
    assert (again.usage().files, leftovers <= names(directory)) == (1, True)
    assert caplog.text.count("is left over") == 2
    assert {TWO, THREE} & set(re.findall("[0-9a-f]{16}", caplog.text)) == set()
    make_store()
    assert not leftovers & names(directory)


def test_a_volume_that_refuses_the_new_record_does_not_keep_a_store_from_starting(
    store: ResultStore, make_store: MakeStore, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(store, 1, b"1")
    (directory / body_name(ONE)).unlink()
    with full_volume(monkeypatch, "replace", number=errno.EROFS):
        again = make_store()
    assert again.find(ONE).detail["code"] == "result_missing"
