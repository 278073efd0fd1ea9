"""A full disk at every step, and a process killed at every step: whole results or none."""

import errno
import hashlib
import os
import random
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from storage.budget import Budget
from storage.entry import Entry, EntryState
from storage.errors import DiskFull, EntryExpired, NotStored, UnknownEntry
from storage.folder import body_name, record_name
from storage.store import ResultStore
from tests.storage.conftest import MakeStore
from tests.storage.doubles import Clock, accepted, body_of, entry_id, full_volume, names, publish

ONE, TWO = entry_id(1), entry_id(2)

# Publishing syncs the body and the record, renames the body, syncs the folder, replaces the record, syncs the folder.
PUBLISH_STEPS = [("fsync", n) for n in range(4)] + [("rename", 0), ("replace", 0), ("open", 0), ("write", 0)]


@pytest.mark.parametrize(("call", "passing"), PUBLISH_STEPS)
def test_a_volume_full_at_any_step_of_a_publication(
    call: str,
    passing: int,
    store: ResultStore,
    make_store: MakeStore,
    directory: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    publish(store, 1, b"an older result")
    store.accept(accepted(2))
    with store.stage(TWO) as staged:
        staged.write(b"0123456789")
        with full_volume(monkeypatch, call, passing), pytest.raises(DiskFull):
            store.publish(staged, content_type="", parts=[], detail={})
        with pytest.raises(NotStored):
            store.lease(TWO)
    assert names(directory) == {record_name(ONE), body_name(ONE), record_name(TWO)}
    assert (store.usage().files, store.usage().bytes, store.audit()) == (1, 15, [])
    assert store.find(TWO).state is EntryState.ACCEPTED
    # A restart right here knows no result of it either; and without one the failure can be put on record.
    assert make_store().find(TWO).state in (EntryState.ACCEPTED, EntryState.ENDED)
    assert store.end(TWO, {"code": "disk_full"}).detail == {"code": "disk_full"}
    assert make_store().find(TWO).detail == {"code": "disk_full"}


@pytest.mark.parametrize(
    ("call", "passing"), [("open", 0), ("write", 0), ("fsync", 0), ("replace", 0), ("fsync", 1)]
)
def test_a_volume_full_at_any_step_of_accepting(
    call: str, passing: int, store: ResultStore, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with full_volume(monkeypatch, call, passing), pytest.raises(DiskFull):
        store.accept(accepted(key="k"))
    assert names(directory) == set()
    assert store.find_key("", "k") is None
    with pytest.raises(UnknownEntry):
        store.find(ONE)
    assert store.accept(accepted(key="k")).id == ONE


def test_a_volume_full_when_staging(
    store: ResultStore, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.accept(accepted())
    with full_volume(monkeypatch, "open"), pytest.raises(DiskFull):
        store.stage(ONE)
    assert (store.usage().files, names(directory)) == (0, {record_name(ONE)})


def test_a_write_dropped_by_an_encoder_still_fails_the_publication(
    store: ResultStore, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.accept(accepted())
    with store.stage(ONE) as staged:
        with full_volume(monkeypatch, "write"), pytest.raises(DiskFull):
            staged.write(b"0123456789")
        assert store.usage().bytes == 0
        with pytest.raises(DiskFull):
            store.publish(staged, content_type="", parts=[], detail={})
    assert names(directory) == {record_name(ONE)}


def test_the_real_limit_of_file_sizes_is_a_full_volume(store: ResultStore, directory: Path) -> None:
    store.accept(accepted())
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with store.stage(ONE) as staged:
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))
        try:
            with pytest.raises(DiskFull):
                staged.write(b"x" * 200)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert store.usage().bytes == os.fstat(staged.fileno()).st_size == 100
    assert names(directory) == {record_name(ONE)}


def test_deleting_works_on_a_full_disk_and_survives(
    store: ResultStore, make_store: MakeStore, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(store, 1, b"1")
    with full_volume(monkeypatch, "open"):
        store.delete(ONE)
    with pytest.raises(EntryExpired):
        store.find(ONE)
    assert (names(directory), store.audit(), store.usage().files) == (set(), [], 0)
    with pytest.raises(UnknownEntry):
        make_store().find(ONE)


def test_a_broken_device_fails_the_publication_with_its_own_error(
    store: ResultStore, directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    store.accept(accepted())
    with store.stage(ONE) as staged:
        with monkeypatch.context() as patch:
            patch.setattr(os, "rename", broken)
            with pytest.raises(OSError, match="Input/output"):
                store.publish(staged, content_type="", parts=[], detail={})
        assert store.publish(staged, content_type="", parts=[], detail={}).state is EntryState.STORED
    assert (names(directory), store.audit()) == ({record_name(ONE), body_name(ONE)}, [])


CHILD = """
import os, pathlib, signal, sys
from storage.budget import Budget
from storage.budget import Budget
from storage.entry import Entry, EntryState
from storage.store import ResultStore

directory, moment = pathlib.Path(sys.argv[1]), int(sys.argv[2])

def deadly(call):
    real = getattr(os, call)
    def wrapped(*args, **options):
        global moment
        moment -= 1
        if moment == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return real(*args, **options)
    setattr(os, call, wrapped)

for call in ("write", "fsync", "rename", "replace", "unlink"):
    deadly(call)
store = ResultStore(directory, Budget(1 << 30, 10_000, 1 << 30), 3600.0, lambda: 1000.0)
store.recover()
for number in range(1, 10_000):
    id = f"{number:016x}"
    store.accept(Entry(id, EntryState.ACCEPTED, "", float(number)))
    print("accepted", id, flush=True)
    with store.stage(id) as staged:
        for _ in range(2):
            staged.write(id.encode() * 4096)
        store.publish(staged, content_type="", parts=[], detail={})
    print("stored", id, flush=True)
"""


def check_after_crash(directory: Path, clock: Clock, lines: list[str]) -> tuple[Entry, ...]:
    """Every result is whole, what was announced is there, and nothing is left over."""
    store = ResultStore(directory, Budget(1 << 30, 10_000, 1 << 30), 3600.0, clock)
    left = store.recover()
    assert store.audit() == []
    announced = {id: word for word, id in (line.split() for line in lines)}
    for id, word in announced.items():
        entry = store.find(id)
        assert entry.state in (EntryState.STORED, EntryState.ACCEPTED)
        assert word == "accepted" or entry.state is EntryState.STORED
    for name in names(directory):
        assert name.endswith((".json", ".body"))
        if name.endswith(".body"):
            with store.lease(name[:16]) as lease:
                whole = (name[:16] * 8192).encode()
                assert body_of(lease) == whole
                assert lease.entry.sha256 == hashlib.sha256(whole).hexdigest()
    return left


@pytest.mark.parametrize("moment", range(3, 14))
def test_killed_at_a_chosen_call(moment: int, directory: Path, clock: Clock) -> None:
    command = [sys.executable, "-c", CHILD, str(directory), str(moment)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20)
    assert done.returncode == -signal.SIGKILL, done.stderr
    left = check_after_crash(directory, clock, done.stdout.splitlines())
    assert len(left) <= 1


@pytest.mark.parametrize("seed", range(3))
def test_killed_from_outside_at_a_random_moment(seed: int, directory: Path, clock: Clock) -> None:
    wanted = random.Random(seed).randrange(1, 12)
    command = [sys.executable, "-c", CHILD, str(directory), "1000000"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        lines = [child.stdout.readline() for _ in range(wanted)]
        child.kill()
        lines += [line for line in child.stdout if line.endswith("\n")]
    assert child.returncode == -signal.SIGKILL
    left = check_after_crash(directory, clock, lines)
    assert len(left) <= 1
