"""What Prometheus is told."""

import asyncio
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from server.log_ring import LogRing
from server.metrics import LAG_PERIOD_SECONDS, Metrics
from server.parts import assemble
from server.settings import load


def samples(metrics: Metrics) -> dict[str, float]:
    """The exposition, labels left out of the names."""
    text = metrics.exposition().decode()
    return {
        sample.name: sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


@pytest.fixture
def metrics(tmp_path: Path) -> Metrics:
    return assemble(load({"YUE2_RESULT_DIR": str(tmp_path / "jobs")}), LogRing()).metrics


def test_snapshot_and_jobs_are_told(metrics: Metrics) -> None:
    metrics.job_ended("synth", "done", 4.0)
    metrics.job_ended("synth", "done", 6.0)
    told = samples(metrics)
    assert told["yue2_queue_limit"] == 8
    assert told["yue2_results_limit_files"] == 256
    assert (told["yue2_agents_limit"], told["yue2_agents_limit_files"]) == (8, 128)
    assert told["yue2_agents_pending"] == told["yue2_agents_files"] == 0
    assert told["yue2_jobs_completed_total"] == 0
    assert told["yue2_job_seconds_sum"] == 10.0


def test_two_servers_in_one_process_do_not_share_counts(metrics: Metrics, tmp_path: Path) -> None:
    other = assemble(load({"YUE2_RESULT_DIR": str(tmp_path / "other")}), LogRing()).metrics
    metrics.job_ended("synth", "done", 1.0)
    assert "yue2_job_seconds_sum" not in samples(other)


def test_a_loop_that_wakes_late_is_measured(tmp_path: Path) -> None:
    times = iter([0.0, LAG_PERIOD_SECONDS + 0.3, 1.0, 1.0 + LAG_PERIOD_SECONDS])
    board = assemble(load({"YUE2_RESULT_DIR": str(tmp_path / "jobs")}), LogRing()).board
    metrics = Metrics(board, lambda: next(times))
    with pytest.raises((RuntimeError, StopIteration)):
        asyncio.run(metrics.watch_loop())
    told = samples(metrics)
    assert told["yue2_loop_lag_seconds_count"] == 2
    assert told["yue2_loop_lag_worst_seconds"] == pytest.approx(0.3)
