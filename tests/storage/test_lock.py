"""Two servers never share an output folder."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from storage.errors import OutputLocked
from storage.lock import LOCK_NAME, OutputLock
from tests.storage.doubles import full_volume, open_descriptors


def test_a_second_lock_is_refused_and_told_who_holds_the_first(tmp_path: Path) -> None:
    directory = tmp_path / "output"
    with OutputLock(directory, "process 7 at 127.0.0.1:8000"):
        before = open_descriptors()
        with pytest.raises(OutputLocked, match="in use by process 7 at") as refusal:
            OutputLock(directory, "process 8").acquire()
        assert refusal.value.holder == "process 7 at 127.0.0.1:8000"
        assert open_descriptors() == before
        assert (directory / LOCK_NAME).read_text() == "process 7 at 127.0.0.1:8000"


def test_the_lock_is_free_after_its_release(tmp_path: Path) -> None:
    before = open_descriptors()
    first = OutputLock(tmp_path, "a process with a long name")
    first.acquire()
    first.release()
    first.release()
    with OutputLock(tmp_path, "second"):
        assert (tmp_path / LOCK_NAME).read_text() == "second"
    assert (tmp_path / LOCK_NAME).read_text() == ""
    assert open_descriptors() == before


def test_taking_it_twice_is_a_mistake(tmp_path: Path) -> None:
    with OutputLock(tmp_path, "first") as lock, pytest.raises(ValueError, match="held already"):
        lock.acquire()


def test_a_holder_that_has_not_said_its_name_yet(tmp_path: Path) -> None:
    with OutputLock(tmp_path, ""), pytest.raises(OutputLocked, match="in use by another process"):
        OutputLock(tmp_path, "second").acquire()


def test_a_linked_lock_file_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("text")
    (tmp_path / LOCK_NAME).symlink_to(tmp_path / "precious")
    with pytest.raises(OSError, match="symbolic"):
        OutputLock(tmp_path, "first").acquire()
    assert (tmp_path / "precious").read_text() == "text"


def test_a_killed_holder_frees_it(tmp_path: Path) -> None:
    program = (
        "import sys, pathlib; from storage.lock import OutputLock\n"
        "OutputLock(pathlib.Path(sys.argv[1]), 'process of the dead').acquire()\n"
        "print('held', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", program, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"held\n"
        with pytest.raises(OutputLocked, match="process of the dead"):
            OutputLock(tmp_path, "second").acquire()
        os.kill(child.pid, signal.SIGKILL)
        child.wait(10)
        with OutputLock(tmp_path, "second"):
            assert (tmp_path / LOCK_NAME).read_text() == "second"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EIO])
@pytest.mark.parametrize("call", ["ftruncate", "pwrite"])
def test_a_disk_that_takes_no_text_is_locked_all_the_same(
    call: str, number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = open_descriptors()
    with (
        full_volume(monkeypatch, call, number=number),
        OutputLock(tmp_path, "first"),
        pytest.raises(OutputLocked, match="in use by another process"),
    ):
        OutputLock(tmp_path, "second").acquire()
    assert open_descriptors() == before
    with OutputLock(tmp_path, "third"):
        assert (tmp_path / LOCK_NAME).read_text() == "third"


def test_the_folder_of_the_lock_is_made_durable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced: list[Path] = []
    monkeypatch.setattr("storage.folder.sync_folder", synced.append)
    with OutputLock(tmp_path / "deep" / "output", "first"):
        assert synced == [tmp_path / "deep", tmp_path]
