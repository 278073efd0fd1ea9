"""Percentiles, bars and what is kept."""

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench import report
from bench.report import Bar, Row, conclude, end, percentile


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
    assert conclude("trial", rows, {"answer": [value, 9.0]}) == status
    assert ("missed" in capsys.readouterr().out) is bool(status)
    (kept,) = (tmp_path / "results").iterdir()
    document = json.loads(kept.read_text())
    assert document["samples"] == {"answer": [value, 9.0]}
    assert document["rows"][0] == {"name": "answer", "value": value, "unit": "ms", "bar": "≤ 2"}


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
