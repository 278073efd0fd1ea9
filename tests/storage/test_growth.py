"""A body that is read while it is being made."""

import os
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from storage.budget import Budget
from storage.entry import Part
from storage.errors import EntryExpired, StoreFull, UnknownEntry
from storage.folder import body_name, record_name
from storage.growth import Following, Growth, Reach
from storage.store import ResultStore
from tests.storage.doubles import Clock, accepted, entry_id, names, open_descriptors, publish, stored
from tests.storage.test_store_threads import at_once

ONE = entry_id(1)


class Told:
    """Remembers whose bodies grew."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.store: ResultStore | None = None

    def __call__(self, id: str) -> None:
        self.ids.append(id)
        if self.store is not None:
            self.store.usage()  # no lock is held while somebody is told


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def store(directory: Path, clock: Clock, told: Told) -> ResultStore:
    made = ResultStore(directory, Budget(1000, 4, 400), 10.0, clock, told)
    made.recover()
    told.store = made
    return made


def followed(store: ResultStore) -> Following:
    following = store.follow(ONE)
    assert following is not None
    return following


def test_growth_only_grows_and_ends_once() -> None:
    growth = Growth(0)
    growth.offer(5)
    growth.offer(3)
    assert growth.reach() == Reach(5, None, is_over=False)
    growth.end()
    assert growth.reach() == Reach(5, None, is_over=True)
    assert growth.copy_descriptor() is None


def test_a_published_growth_keeps_its_entry() -> None:
    growth = Growth(0)
    growth.publish(stored())
    growth.end()
    assert growth.reach() == Reach(0, stored(), is_over=True)


def test_only_what_is_offered_may_be_read_and_its_owner_is_told(store: ResultStore, told: Told) -> None:
    store.accept(accepted())
    with store.stage(ONE) as staged, followed(store) as following:
        staged.write(b"one")
        assert (following.reach(), told.ids) == (Reach(0, None, is_over=False), [])
        staged.offer()
        staged.write(b"two")
        assert (following.reach().offered, told.ids) == (3, [ONE])
        staged.offer()
        assert following.reach().offered == 6
        assert os.pread(following.fd, 6, 0) == b"onetwo"
        assert staged.tell() == 6


def test_a_follower_reads_on_after_the_publication_and_the_deletion(
    store: ResultStore, told: Told, directory: Path
) -> None:
    store.accept(accepted())
    with store.stage(ONE) as staged:
        following = followed(store)
        staged.write(b"audio")
        staged.offer()
        staged.write(b"{}")
        parts = [Part("audio", 0, "audio/mpeg", 0, 5), Part("replay", 0, "application/json", 5, 2)]
        entry = store.publish(staged, content_type="audio/mpeg", parts=parts, detail={})
    assert following.reach() == Reach(5, entry, is_over=True)
    assert told.ids == [ONE, ONE]
    store.delete(ONE)
    assert os.pread(following.fd, 9, 0) == b"audio{}"
    assert (store.usage().files, store.usage().bytes, store.audit()) == (1, 7, [])
    following.close()
    assert (store.usage().files, store.audit(), names(directory)) == (0, [], {record_name(ONE)})


def test_a_body_given_up_stays_as_long_as_it_is_followed(
    store: ResultStore, told: Told, clock: Clock, directory: Path
) -> None:
    store.accept(accepted())
    with store.stage(ONE) as staged:
        staged.write(b"one")
        staged.offer()
        following, other = followed(store), followed(store)
    assert following.reach() == Reach(3, None, is_over=True)
    assert told.ids == [ONE, ONE]
    store.end(ONE, {})
    clock.advance(10.0)
    store.sweep()
    other.close()
    assert os.pread(following.fd, 9, 0) == b"one"
    assert (store.usage().bytes, store.audit()) == (3, [])
    following.close()
    assert (store.usage().bytes, store.audit(), names(directory)) == (0, [], {record_name(ONE)})


def test_nothing_is_followed_that_is_not_being_made(store: ResultStore) -> None:
    before = open_descriptors()
    with pytest.raises(UnknownEntry):
        store.follow(ONE)
    store.accept(accepted())
    assert store.follow(ONE) is None
    with store.stage(ONE):
        followed(store).close()
    assert store.follow(ONE) is None
    store.withdraw(ONE)
    publish(store, 1, b"1")
    assert store.follow(ONE) is None
    store.delete(ONE)
    with pytest.raises(EntryExpired):
        store.follow(ONE)
    assert open_descriptors() == before


def test_a_descriptor_that_cannot_be_had_pins_nothing(
    store: ResultStore, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(fd: int) -> int:
        raise OSError(24, "too many open files")

    store.accept(accepted())
    with store.stage(ONE):
        monkeypatch.setattr(os, "dup", refuse)
        with pytest.raises(OSError, match="too many"):
            store.follow(ONE)
    assert names(directory) == {record_name(ONE)}


def test_followers_count_for_nothing_and_a_full_store_still_refuses(store: ResultStore) -> None:
    store.accept(accepted())
    with store.stage(ONE) as staged, followed(store), followed(store):
        staged.write(b"x" * 400)
        assert (store.usage().files, store.usage().bytes) == (1, 400)
    for number in (2, 3, 4, 5):
        publish(store, number, b"1")
    with pytest.raises(StoreFull):
        store.check_accepting()


def test_many_follow_one_maker_and_all_read_the_same(directory: Path, clock: Clock) -> None:
    grown = threading.Condition()

    def tell(id: str) -> None:
        with grown:
            grown.notify_all()

    store = ResultStore(directory, Budget(100_000, 4, 100_000), 10.0, clock, tell)
    store.recover()
    store.accept(accepted())
    begun = threading.Barrier(5, timeout=10)
    pieces = [bytes([65 + n]) * (n * 37 % 100 + 1) for n in range(40)]

    def make() -> bytes:
        with store.stage(ONE) as staged:
            begun.wait()
            for piece in pieces:
                staged.write(piece)
                staged.offer()
            store.publish(staged, content_type="audio/mpeg", parts=[], detail={})
        return b"".join(pieces)

    def read() -> bytes:
        begun.wait()
        following, body = store.follow(ONE), b""
        if following is None:  # the maker was faster
            with store.lease(ONE) as lease:
                return os.pread(lease.fd, lease.entry.size_bytes, 0)
        with following:
            while True:
                with grown:
                    assert grown.wait_for(partial(_news, following, len(body)), 10)
                reach = following.reach()
                wanted = reach.published.size_bytes if reach.published else reach.offered
                body += os.pread(following.fd, wanted - len(body), len(body))
                if reach.is_over:
                    return body

    works: list[Callable[[], bytes]] = [make, read, read, read, read]
    bodies = at_once(works)
    assert set(bodies) == {b"".join(pieces)}
    assert (store.usage().files, names(directory)) == (1, {record_name(ONE), body_name(ONE)})


def _news(following: Following, read: int) -> bool:
    reach = following.reach()
    return reach.is_over or reach.offered > read
