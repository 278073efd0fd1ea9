"""Percentiles, bars and what is kept."""

import json
import math
import platform
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench import report
from bench.machine import Load
from bench.report import Bar, Report, Row, begin, end, percentile


def test_percentiles_are_samples_by_nearest_rank() -> None:
    samples = list(range(1, 101))
    assert [percentile(samples, share) for share in (0.0, 0.5, 0.99, 0.999, 1.0)] == [1, 50, 99, 100, 100]


def test_no_samples_have_no_percentile() -> None:
    assert math.isnan(percentile([], 0.5))


@given(st.lists(st.floats(0, 1e6), min_size=1), st.floats(0, 1))
def test_enough_samples_do_not_exceed_a_percentile(samples: list[float], share: float) -> None:
    value = percentile(samples, share)
    assert sum(sample <= value for sample in samples) >= share * len(samples) - 1e-6


def test_bars_are_kept_from_the_right_side() -> None:
    assert Bar(10).kept(10)
    assert not Bar(10).kept(10.1)
    assert Bar(0.8, at_most=False).kept(0.9)
    assert not Bar(0.8, at_most=False).kept(math.nan)


@pytest.mark.parametrize(("value", "status"), [(1.0, 0), (3.0, 1)])
def test_a_bar_that_is_not_kept_is_the_exit_status(
    value: float,
    status: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(report, "RESULTS", tmp_path / "results")
    rows = [Row("answer", value, "ms", Bar(2)), Row("free", 1234.5, "MB/s")]
    trial = Report("trial", "by hand", Load(0.25, 2))
    assert trial.conclude(rows, {"answer": [value, 9.0]}) == status
    printed = capsys.readouterr().out
    assert ("missed" in printed) is bool(status)
    assert "trial: by hand" in printed
    (kept,) = (tmp_path / "results").iterdir()
    document = json.loads(kept.read_text())
    assert document["samples"] == {"answer": [value, 9.0]}
    assert document["rows"][0] == {"name": "answer", "value": value, "unit": "ms", "bar": "≤ 2"}
    assert document["method"] == "by hand"
    assert document["load"]["before"] == 0.25
    assert document["load"]["after"] >= 0
    assert document["machine"]["python"] == platform.python_version()
    assert document["machine"]["cores"] >= 1
    assert "numpy" in document["packages"]


@pytest.mark.parametrize(("average", "warned"), [(1.0, False), (1.5, True)])
def test_a_machine_at_work_is_warned_of(
    average: float, warned: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(Load, "now", lambda: Load(average, 2))
    assert begin("trial").before == Load(average, 2)
    assert capsys.readouterr().out.startswith("warning: load 1.50 on 2 cores before the run") is warned


def interrupted() -> int:
    raise KeyboardInterrupt


@pytest.mark.parametrize(("program", "status"), [(lambda: 1, 1), (interrupted, 130)])
def test_a_program_ends_with_its_status_and_quietly_at_ctrl_c(
    program: Callable[[], int], status: int, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        end(program)
    assert left.value.code == status
    assert "".join(capsys.readouterr()) == ""
