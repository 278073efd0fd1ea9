"""A staged file counts its growth, keeps its failure and leaves nothing."""

import errno
import hashlib
import os
import threading
from array import array
from pathlib import Path

import numpy as np
import pytest
import soundfile

from storage.errors import DiskFull, ResultTooLarge, StoreFull
from storage.staging import StagedFile
from tests.storage.doubles import entry_id


class Counter:
    """Stands for the store: allows up to `limit` bytes and remembers what it was asked."""

    def __init__(self, limit: int = 100) -> None:
        self.limit = limit
        self.size = 0
        self.discarded = 0

    def resize(self, size: int) -> None:
        if size > self.limit:
            raise ResultTooLarge(self.limit)
        self.size = size

    def discard(self) -> None:
        self.discarded += 1
        self.size = 0


def staged_in(directory: Path, counter: Counter) -> StagedFile:
    fd = os.open(directory / "staged", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
    return StagedFile(entry_id(1), "staged", fd, counter.resize, counter.discard)


def test_only_growth_beyond_the_end_counts(tmp_path: Path) -> None:
    counter = Counter()
    with staged_in(tmp_path, counter) as staged:
        assert staged.write(b"0123456789") == 10
        staged.seek(2)
        assert staged.write(b"xx") == 2
        assert (counter.size, staged.tell()) == (10, 4)
        staged.seek(8)
        staged.write(b"yyyy")
        assert counter.size == 12
        staged.seek(20)
        staged.write(b"z")
        assert counter.size == 21 == os.fstat(staged.fileno()).st_size
        staged.seek(0)
        assert staged.read(12) == b"01xx4567yyyy"


def test_bytes_are_counted_before_they_reach_the_disk(tmp_path: Path) -> None:
    counter = Counter(limit=5)
    with staged_in(tmp_path, counter) as staged:
        staged.write(b"12345")
        with pytest.raises(ResultTooLarge):
            staged.write(b"6")
        assert os.fstat(staged.fileno()).st_size == counter.size == 5


def test_any_buffer_can_be_written(tmp_path: Path) -> None:
    counter = Counter()
    with staged_in(tmp_path, counter) as staged:
        assert staged.write(memoryview(array("f", range(6))).cast("B").cast("f", (3, 2))) == 24
        assert staged.write(bytearray(b"ab")) == 2
        assert staged.write(array("f")) == 0
        assert staged.write(b"") == 0
        assert counter.size == 26


def test_cutting_gives_bytes_back_and_lengthening_counts(tmp_path: Path) -> None:
    counter = Counter()
    with staged_in(tmp_path, counter) as staged:
        staged.write(b"0123456789")
        assert staged.truncate(4) == 4
        assert (counter.size, os.fstat(staged.fileno()).st_size) == (4, 4)
        assert staged.truncate(50) == 50
        assert counter.size == 50
        staged.seek(7)
        assert staged.truncate() == 7
        assert counter.size == 7
        with pytest.raises(ResultTooLarge):
            staged.truncate(101)
        assert os.fstat(staged.fileno()).st_size == counter.size == 7


def test_what_was_offered_is_not_cut_off_any_more(tmp_path: Path) -> None:
    with staged_in(tmp_path, Counter()) as staged:
        staged.write(b"0123456789")
        staged.offer()
        staged.write(b"more")
        with pytest.raises(ValueError, match="offered to those who follow"):
            staged.truncate(9)
        assert (staged.growth.reach().offered, os.fstat(staged.fileno()).st_size) == (10, 14)
        assert staged.truncate(10) == 10
        staged.write(b"!")


def test_leaving_it_discards_it_once(tmp_path: Path) -> None:
    counter = Counter()
    staged = staged_in(tmp_path, counter)
    staged.write(b"1")
    staged.close()
    staged.close()
    assert counter.discarded == 1
    with pytest.raises(ValueError, match="closed"):
        staged.write(b"2")


def test_a_published_file_is_closed_and_not_discarded(tmp_path: Path) -> None:
    counter = Counter()
    with staged_in(tmp_path, counter) as staged:
        staged.write(b"12345")
        staged.seek(1)
        with staged.publishing():
            assert staged.seal() == (5, hashlib.sha256(b"12345").hexdigest())
        assert staged.closed
    assert counter.discarded == 0


def test_a_failed_publication_leaves_the_file_staged(tmp_path: Path) -> None:
    counter = Counter()
    with staged_in(tmp_path, counter) as staged:
        with pytest.raises(StoreFull), staged.publishing():
            raise StoreFull(1, 1, 1, 1)
        assert not staged.closed
    assert counter.discarded == 1


def test_closing_during_a_publication_waits_for_its_outcome(tmp_path: Path) -> None:
    counter = Counter()
    staged = staged_in(tmp_path, counter)
    staged.write(b"12345")
    started = threading.Event()

    def close() -> None:
        started.set()
        staged.close()

    closer = threading.Thread(target=close)
    with staged.publishing():
        closer.start()
        assert started.wait(5)
        assert staged.seal()[0] == 5
    closer.join(5)
    assert (counter.discarded, staged.closed) == (0, True)


def test_a_failure_is_raised_again_by_all_that_follows(tmp_path: Path) -> None:
    counter = Counter(limit=3)
    with staged_in(tmp_path, counter) as staged:
        with pytest.raises(ResultTooLarge):
            staged.write(b"1234")
        with pytest.raises(ResultTooLarge):
            staged.write(b"1")
        with pytest.raises(ResultTooLarge):
            staged.truncate(0)
        with pytest.raises(ResultTooLarge), staged.publishing():
            staged.seal()
        assert isinstance(staged.failure, ResultTooLarge)


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EFBIG])
def test_a_full_volume_midway_leaves_the_count_at_what_was_written(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counter, real = Counter(), os.write

    def write(fd: int, data: memoryview) -> int:
        if len(data) <= 5:
            raise OSError(number, "full")
        return real(fd, data[:5])

    with staged_in(tmp_path, counter) as staged:
        monkeypatch.setattr(os, "write", write)
        with pytest.raises(DiskFull):
            staged.write(b"0123456789")
        monkeypatch.undo()
        assert counter.size == 5 == os.fstat(staged.fileno()).st_size


def test_an_error_of_the_device_is_kept_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> int:
        raise OSError(errno.EIO, "Input/output error")

    with staged_in(tmp_path, Counter()) as staged:
        monkeypatch.setattr(os, "fsync", broken)
        with pytest.raises(OSError, match="Input/output"):
            staged.seal()
        with pytest.raises(OSError, match="Input/output"):
            staged.write(b"1")


@pytest.mark.parametrize("format", ["MP3", "FLAC", "WAV", "OGG"])
def test_an_encoder_can_write_into_it(format: str, tmp_path: Path) -> None:
    counter = Counter(limit=1 << 20)
    samples = np.sin(np.arange(4800, dtype=np.float32) / 20)
    with staged_in(tmp_path, counter) as staged:
        soundfile.write(staged, samples, 48000, format=format)
        staged.seek(0, os.SEEK_END)
        assert staged.tell() == counter.size > 0
        staged.seek(0)
        decoded, rate = soundfile.read(staged)
        assert (rate, abs(len(decoded) - 4800) < 3000) == (48000, True)


def test_sealing_again_gives_the_digest_of_what_is_there_then(tmp_path: Path) -> None:
    path = tmp_path / "staged"
    fd = os.open(path, os.O_RDWR | os.O_CREAT)
    with StagedFile("0" * 16, path.name, fd, lambda size: None, lambda: None) as staged:
        staged.write(b"one")
        first = staged.seal()
        again = staged.seal()
        staged.seek(0)
        staged.write(b"two")
        changed = staged.seal()
    assert first == again == (3, hashlib.sha256(b"one").hexdigest())
    assert changed == (3, hashlib.sha256(b"two").hexdigest())
