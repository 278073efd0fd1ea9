"""What the index answers, step by step."""

from dataclasses import FrozenInstanceError

import pytest

from storage.budget import Budget
from storage.entry import Entry, EntryState
from storage.errors import EntryExpired, NotStored, UnknownEntry
from storage.index import MAX_ENDED, MAX_IDLE_ITEMS, ResultIndex
from tests.storage.doubles import accepted, ended, entry_id, stored

ONE, TWO, THREE = entry_id(1), entry_id(2), entry_id(3)
TTL = 10.0


@pytest.fixture
def index() -> ResultIndex:
    return ResultIndex(Budget(max_bytes=100, max_files=3, max_file_bytes=60), TTL)


def add_stored(index: ResultIndex, number: int = 1, size: int = 10, key: str = "") -> Entry:
    """Accept, stage and publish; expires at 1010."""
    index.add(accepted(number, key))
    index.ledger.stage(entry_id(number))
    index.ledger.resize(entry_id(number), size)
    entry = stored(number, size, key=key)
    index.publish(entry)
    return entry


def test_an_accepted_entry_is_found_for_ever(index: ResultIndex) -> None:
    index.add(accepted())
    assert index.find(ONE, 1e12) == accepted()
    assert index.accepted(ONE, 1e12) == accepted()


def test_an_unknown_id_is_unknown(index: ResultIndex) -> None:
    with pytest.raises(UnknownEntry):
        index.find("no id at all", 1000.0)
    assert index.remembered(ONE) is None


def test_expired_then_unknown_one_ttl_later_whether_swept_or_not(index: ResultIndex) -> None:
    entry = add_stored(index)
    for swept in (False, True):
        assert index.find(ONE, 1009.9) == entry
        for now in (1010.0, 1019.9):
            if swept:
                index.advance(now)
            with pytest.raises(EntryExpired):
                index.find(ONE, now)
        if not swept:
            with pytest.raises(UnknownEntry):
                index.find(ONE, 1020.0)
    assert index.remembered(ONE) == entry.gone(1010.0)
    index.advance(1020.0)
    assert index.remembered(ONE) is None
    assert index.forgotten == (ONE,)
    index.record_removed(ONE)
    assert not index.forgotten


def test_an_ended_entry_lives_one_ttl_too(index: ResultIndex) -> None:
    index.add(accepted())
    index.end(ended())
    assert index.find(ONE, 1009.9).state is EntryState.ENDED
    index.advance(1010.0)
    with pytest.raises(EntryExpired):
        index.find(ONE, 1010.0)
    index.advance(1020.0)
    assert (index.entries, index.forgotten) == ((), (ONE,))


def test_a_sleep_longer_than_both_ttls_forgets_at_once(index: ResultIndex) -> None:
    add_stored(index)
    index.advance(5000.0)
    assert (index.entries, index.ledger.removable, index.forgotten) == ((), (ONE,), (ONE,))
    assert index.take_expired() == 1


def test_a_deleted_entry_is_remembered_one_ttl_from_its_deletion(index: ResultIndex) -> None:
    entry = add_stored(index)
    assert index.delete(ONE, 1005.0) == entry.gone(1005.0)
    assert index.ledger.removable == (ONE,)
    index.advance(1014.9)
    with pytest.raises(EntryExpired):
        index.find(ONE, 1014.9)
    index.advance(1015.0)
    assert (index.entries, index.take_expired()) == ((), 0)


def test_an_ended_entry_can_be_deleted(index: ResultIndex) -> None:
    index.add(accepted())
    index.end(ended())
    assert index.delete(ONE, 1005.0) == ended().gone(1005.0)
    with pytest.raises(EntryExpired):
        index.delete(ONE, 1005.0)


def test_an_unfinished_entry_cannot_be_deleted_nor_read(index: ResultIndex) -> None:
    index.add(accepted())
    with pytest.raises(NotStored, match="not finished"):
        index.delete(ONE, 1000.0)
    with pytest.raises(NotStored, match="no result"):
        index.pin(ONE, 1000.0)
    index.end(ended())
    with pytest.raises(NotStored, match="no result"):
        index.pin(ONE, 1000.0)
    with pytest.raises(NotStored, match="already ended"):
        index.accepted(ONE, 1000.0)


def test_a_withdrawn_entry_never_was(index: ResultIndex) -> None:
    index.add(accepted(key="k"))
    index.withdraw(ONE, 1000.0)
    assert (index.entries, index.forgotten, index.find_key("", "k", 1000.0)) == ((), (), None)
    index.add(accepted(key="k"))
    index.end(ended(key="k"))
    with pytest.raises(NotStored):
        index.withdraw(ONE, 1000.0)


def test_only_a_new_accepted_entry_can_be_added(index: ResultIndex) -> None:
    with pytest.raises(ValueError, match="Only an accepted"):
        index.add(stored())
    index.add(accepted())
    with pytest.raises(ValueError, match="taken"):
        index.add(accepted())


def test_an_id_is_taken_while_anything_of_it_is_left(index: ResultIndex) -> None:
    add_stored(index)
    index.pin(ONE, 1000.0)
    index.advance(1020.0)
    index.record_removed(ONE)
    with pytest.raises(ValueError, match="taken"):
        index.add(accepted())
    index.ledger.release(ONE)
    index.ledger.removed(ONE)
    index.add(accepted())
    index.end(ended(expires_at=2000.0))
    index.advance(3000.0)
    with pytest.raises(ValueError, match="taken"):
        index.add(accepted())


def test_a_used_again_id_is_not_buried_by_its_former_expiry(index: ResultIndex) -> None:
    index.add(accepted())
    index.end(ended(expires_at=1010.0))
    index._forget(ended(expires_at=1010.0))
    index.record_removed(ONE)
    index.add(accepted())
    index.end(ended(expires_at=1030.0))
    index.advance(1015.0)
    assert index.find(ONE, 1015.0).expires_at == 1030.0


def test_a_used_again_id_is_accepted_for_ever_too(index: ResultIndex) -> None:
    index.add(accepted())
    index.end(ended(expires_at=1010.0))
    index._forget(ended(expires_at=1010.0))
    index.record_removed(ONE)
    index.add(accepted())
    index.advance(1015.0)
    assert index.find(ONE, 1015.0) == accepted()


def test_a_key_belongs_to_its_owner_and_is_free_once_its_entry_is_gone(index: ResultIndex) -> None:
    index.add(accepted(1, key="k", owner="a"))
    index.add(accepted(2, key="k", owner="b"))
    index.add(accepted(3))
    found = index.find_key("a", "k", 1000.0)
    assert found is not None
    assert found.id == ONE
    assert index.find_key("", "", 1000.0) is None
    assert index.find_key("c", "k", 1000.0) is None
    index.end(accepted(1, key="k", owner="a").evolve(state=EntryState.ENDED, expires_at=1010.0))
    assert index.find_key("a", "k", 1009.9) is not None
    assert index.find_key("a", "k", 1010.0) is None
    index.advance(1010.0)
    index.add(accepted(4, key="k", owner="a"))
    index.advance(1020.0)
    again = index.find_key("a", "k", 1020.0)
    assert again is not None
    assert again.id == entry_id(4)


def test_a_key_can_be_freed_before(index: ResultIndex) -> None:
    index.add(accepted(1, key="k", owner="a"))
    index.free_key(ONE, 1000.0)
    assert index.find_key("a", "k", 1000.0) is None
    index.add(accepted(2, key="k", owner="a"))
    index.free_key(ONE, 1000.0)
    found = index.find_key("a", "k", 1000.0)
    assert found is not None
    assert found.id == entry_id(2)
    with pytest.raises(UnknownEntry):
        index.free_key(entry_id(3), 1000.0)


def test_a_freed_key_is_not_in_the_record_of_the_end(index: ResultIndex) -> None:
    index.add(accepted(1, key="k"))
    index.free_key(ONE, 1000.0)
    ended = index.end(accepted(1, key="k").evolve(state=EntryState.ENDED, expires_at=1010.0))
    assert (ended.idempotency_key, index.find(ONE, 1000.0)) == ("", ended)


@pytest.mark.parametrize("is_taken", [False, True], ids=["free", "taken"])
def test_whoever_gets_its_result_after_all_has_its_key_again_where_it_is_free(
    index: ResultIndex, is_taken: bool
) -> None:
    index.add(accepted(1, key="k"))
    index.free_key(ONE, 1000.0)
    if is_taken:
        index.add(accepted(2, key="k"))
    publishing = index.begin_publishing(ONE, 1000.0)
    index.free_key(ONE, 1000.0)  # too late
    found = index.find_key("", "k", 1000.0)
    assert found is not None
    assert (publishing.idempotency_key, found.id) == (("", entry_id(2)) if is_taken else ("k", ONE))


def test_what_has_a_result_or_has_ended_keeps_its_key(index: ResultIndex) -> None:
    add_stored(index, 1, key="k")
    index.add(accepted(2, key="l"))
    index.end(accepted(2, key="l").evolve(state=EntryState.ENDED, expires_at=1010.0))
    for number, key in ((1, "k"), (2, "l")):
        index.free_key(entry_id(number), 1000.0)
        found = index.find_key("", key, 1000.0)
        assert found is not None
        assert found.id == entry_id(number)


def test_a_pinned_result_is_invisible_after_expiry_and_still_counted(index: ResultIndex) -> None:
    entry = add_stored(index)
    assert index.pin(ONE, 1000.0) == entry
    index.advance(1010.0)
    with pytest.raises(EntryExpired):
        index.pin(ONE, 1010.0)
    usage = index.usage()
    assert (usage.files, usage.bytes, index.ledger.removable) == (1, 10, ())
    index.ledger.release(ONE)
    assert (index.usage().files, index.ledger.removable) == (0, (ONE,))


def test_the_usage_stands_beside_its_limits(index: ResultIndex) -> None:
    for number in (1, 2, 3):
        assert index.usage().full is False
        add_stored(index, number, size=number)
    usage = index.usage()
    assert (usage.files, usage.bytes, usage.full) == (3, 6, True)
    assert (usage.limit_files, usage.limit_bytes, usage.max_file_bytes, usage.ttl_seconds) == (
        3,
        100,
        60,
        10.0,
    )


def test_expiries_are_counted_once(index: ResultIndex) -> None:
    for number in (1, 2):
        add_stored(index, number)
    index.advance(1010.0)
    index.advance(1010.0)
    assert index.take_expired() == 2
    index.advance(1011.0)
    assert index.take_expired() == 0


def test_ended_entries_are_bounded_and_the_oldest_goes_first() -> None:
    index = ResultIndex(Budget(100, 9, 60), TTL, max_ended=2)
    add_stored(index, 9)
    for number in (1, 2):
        index.add(accepted(number, key=f"k{number}"))
        index.end(ended(number, key=f"k{number}"))
    assert len(index.entries) == 3
    index.delete(entry_id(9), 1000.0)
    assert {entry.id for entry in index.entries} == {TWO, entry_id(9)}
    assert (index.forgotten, index.find_key("", "k1", 1000.0)) == ((ONE,), None)
    index.delete(TWO, 1001.0)
    assert {entry.id for entry in index.entries} == {TWO, entry_id(9)}
    index.load(ended(3), 1000.0)
    assert {entry.id for entry in index.entries} == {entry_id(9), THREE}
    assert MAX_ENDED == 20_000


def test_loading_keeps_live_results_over_lowered_limits() -> None:
    index = ResultIndex(Budget(5, 1, 5), TTL)
    index.load(stored(1, size=50), 1000.0)
    index.load(stored(2, size=60), 1000.0)
    assert (index.usage().files, index.usage().bytes, index.usage().full) == (2, 110, True)
    assert index.find(TWO, 1000.0).size_bytes == 60


def test_loading_follows_the_expiry_on_record() -> None:
    index = ResultIndex(Budget(100, 9, 60), TTL)
    index.load(accepted(1), 1000.0)
    index.load(stored(2, expires_at=1004.0), 1000.0)
    index.load(stored(3, expires_at=995.0), 1000.0)
    index.load(ended(4, expires_at=990.0), 1000.0)
    index.load(stored(5).gone(995.0), 1000.0)
    index.advance(1000.0)
    assert index.find(TWO, 1003.9).state is EntryState.STORED
    assert [entry.id for entry in index.entries] == [ONE, TWO, THREE, entry_id(5)]
    assert (index.ledger.removable, index.forgotten) == ((THREE,), (entry_id(4),))
    index.advance(1005.0)
    assert [entry.id for entry in index.entries] == [ONE, TWO]


def test_a_loaded_tombstone_neither_holds_nor_frees_the_key_of_a_live_entry() -> None:
    index = ResultIndex(Budget(100, 9, 60), TTL)
    index.load(accepted(2, key="k"), 1000.0)
    index.load(stored(1, expires_at=1000.0, key="k"), 1000.0)
    index.load(ended(3, expires_at=1003.0, key="j"), 1000.0)
    index.advance(1000.0)
    found = index.find_key("", "k", 1000.0)
    assert found is not None
    assert found.id == TWO
    assert index.find_key("", "j", 1000.0) is not None


def test_the_contents_are_a_copy_of_what_ought_to_be_there(index: ResultIndex) -> None:
    add_stored(index, 1)
    add_stored(index, 2)
    index.delete(TWO, 1000.0)
    index.add(accepted(3))
    index.ledger.stage(THREE)
    contents = index.contents()
    assert contents.states == {ONE: EntryState.STORED, TWO: EntryState.GONE, THREE: EntryState.ACCEPTED}
    assert (contents.stored, contents.staged) == ({ONE: 10}, {THREE: 0})
    with pytest.raises(FrozenInstanceError):
        contents.__setattr__("stored", {})
    assert contents.removable == {TWO}
    assert not contents.forgotten
    index.advance(5000.0)
    assert index.contents().forgotten == {ONE, TWO}


def test_the_schedule_does_not_outgrow_the_entries() -> None:
    index = ResultIndex(Budget(10**6, 10, 10**6), 100.0, max_ended=50)
    for number in range(5000):
        entry = accepted(number)
        index.add(entry)
        index.end(entry.evolve(state=EntryState.ENDED, expires_at=100.0))
    assert len(index.entries) == 50
    assert len(index._due) <= 2 * 50 + MAX_IDLE_ITEMS
    index.advance(100.0)
    assert {entry.state for entry in index.entries} == {EntryState.GONE}
