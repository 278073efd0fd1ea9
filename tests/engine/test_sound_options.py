"""How much of the machine the models of sound may use."""

import os

import pytest

from engine.sound_options import SoundOptions


@pytest.mark.parametrize(("cores", "threads"), [(1, 1), (2, 1), (8, 7)])
def test_one_core_is_left_free(cores: int, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(cores)), raising=False)
    assert SoundOptions().worker_threads == threads
    assert SoundOptions(threads=5).worker_threads == 5


def test_without_a_told_affinity_all_cores_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    assert SoundOptions().worker_threads == 3
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert SoundOptions().worker_threads == 1
