"""Each file of a store is counted once, in one place."""

import pytest

from storage.budget import Budget
from storage.errors import ResultTooLarge, StoreFull
from storage.ledger import Ledger


@pytest.fixture
def ledger() -> Ledger:
    return Ledger(Budget(max_bytes=100, max_files=3, max_file_bytes=60))


def test_a_staged_file_counts_at_once_and_by_its_bytes(ledger: Ledger) -> None:
    ledger.stage("a")
    assert (ledger.files, ledger.bytes) == (1, 0)
    ledger.resize("a", 30)
    ledger.resize("a", 20)
    assert (ledger.files, ledger.bytes, ledger.staged) == (1, 20, {"a": 20})
    ledger.drop("a")
    assert (ledger.files, ledger.bytes, ledger.has("a")) == (0, 0, False)


def test_a_refused_growth_changes_nothing(ledger: Ledger) -> None:
    ledger.restore("b", 60)
    ledger.stage("a")
    with pytest.raises(ResultTooLarge):
        ledger.resize("a", 61)
    with pytest.raises(StoreFull):
        ledger.resize("a", 41)
    assert (ledger.staged, ledger.bytes) == ({"a": 0}, 60)
    ledger.resize("a", 40)
    assert (ledger.bytes, ledger.full) == (100, True)


def test_an_entry_has_one_file_at_a_time(ledger: Ledger) -> None:
    ledger.stage("a")
    ledger.restore("b", 1)
    ledger.restore("c", 1)
    ledger.condemn("c")
    for id in "abc":
        assert ledger.has(id)
        with pytest.raises(ValueError, match="one file"):
            ledger.stage(id)


def test_settling_moves_the_file_without_counting_it_twice(ledger: Ledger) -> None:
    ledger.stage("a")
    ledger.resize("a", 5)
    ledger.settle("a")
    assert (ledger.files, ledger.bytes, ledger.staged, ledger.stored) == (1, 5, {}, {"a": 5})


def test_a_condemned_body_stops_filling_the_store_but_growth_reckons_with_it(ledger: Ledger) -> None:
    ledger.restore("a", 70)
    ledger.stage("b")
    ledger.condemn("a")
    assert (ledger.files, ledger.bytes, ledger.removable) == (1, 0, ("a",))
    with pytest.raises(StoreFull):
        ledger.resize("b", 31)
    ledger.removed("a")
    ledger.removed("a")
    ledger.resize("b", 60)
    assert (ledger.files, ledger.bytes, ledger.removable) == (1, 60, ())
    ledger.stage("c")
    with pytest.raises(StoreFull, match="60 of 100 bytes"):
        ledger.resize("c", 41)
    ledger.resize("c", 40)


def test_files_still_on_the_disk_take_a_place(ledger: Ledger) -> None:
    for id in "abc":
        ledger.restore(id, 1)
    ledger.condemn("a")
    assert ledger.full is False
    with pytest.raises(StoreFull, match="3 of 3 files and 3 of"):
        ledger.stage("d")
    ledger.removed("a")
    ledger.stage("d")
    assert ledger.full is True


def test_bytes_still_on_the_disk_keep_a_file_from_beginning(ledger: Ledger) -> None:
    ledger.restore("a", 60)
    ledger.restore("b", 40)
    ledger.condemn("a")
    with pytest.raises(StoreFull, match="100 of 100 bytes"):
        ledger.stage("c")
    assert ledger.has("c") is False


def test_the_numbers_of_a_refused_growth_are_those_on_the_disk(ledger: Ledger) -> None:
    ledger.restore("a", 60)
    ledger.restore("b", 20)
    ledger.condemn("a")
    ledger.stage("c")
    with pytest.raises(StoreFull, match="3 of 3 files and 80 of 100 bytes"):
        ledger.resize("c", 21)


def test_a_pinned_body_is_removable_only_after_its_last_release(ledger: Ledger) -> None:
    ledger.restore("a", 7)
    ledger.pin("a")
    ledger.pin("a")
    ledger.condemn("a")
    ledger.release("a")
    assert (ledger.bytes, ledger.removable) == (7, ())
    ledger.release("a")
    assert (ledger.files, ledger.bytes, ledger.removable) == (0, 0, ("a",))


def test_releasing_a_live_body_keeps_it(ledger: Ledger) -> None:
    ledger.restore("a", 7)
    ledger.pin("a")
    ledger.release("a")
    assert (ledger.stored, ledger.removable) == ({"a": 7}, ())
    ledger.condemn("a")
    assert ledger.removable == ("a",)


def test_condemning_what_has_no_body_does_nothing(ledger: Ledger) -> None:
    ledger.stage("a")
    ledger.condemn("a")
    ledger.condemn("b")
    assert (ledger.staged, ledger.removable) == ({"a": 0}, ())


def test_an_id_can_be_used_again_after_its_file_is_gone(ledger: Ledger) -> None:
    ledger.restore("a", 7)
    ledger.pin("a")
    ledger.condemn("a")
    ledger.release("a")
    ledger.removed("a")
    ledger.stage("a")
    ledger.settle("a")
    ledger.pin("a")
    ledger.release("a")
    assert (ledger.stored, ledger.removable) == ({"a": 0}, ())


def test_copies_do_not_lead_back_into_the_ledger(ledger: Ledger) -> None:
    ledger.stage("a")
    ledger.restore("b", 1)
    ledger.staged.clear()
    ledger.stored.clear()
    assert ledger.files == 2
