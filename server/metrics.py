"""Prometheus metrics, read from the same snapshots as `/status`, plus how late the event loop runs."""

import asyncio
import time
from collections.abc import Callable, Iterable

from prometheus_client import CollectorRegistry, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from server.status import StatusBoard

LAG_PERIOD_SECONDS = 0.05
_JOB_BUCKETS = (0.1, 0.3, 1, 3, 10, 30, 60, 120, 300, 600, 1800)
_LAG_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1)


class _Snapshots(Collector):
    """Turns the status snapshot into metric families at the time of asking."""

    def __init__(self, board: StatusBoard) -> None:
        self._board = board

    def collect(self) -> Iterable[Metric]:
        """The families, queue first."""
        queue, results = self._board.queue(), self._board.results()
        for name in ("limit", "pending", "active", "queued"):
            yield GaugeMetricFamily(f"yue2_queue_{name}", f"Jobs: {name}.", value=_number(queue[name]))
        for name in ("rejected", "completed", "failed", "cancelled"):
            yield CounterMetricFamily(
                f"yue2_jobs_{name}", f"Jobs {name} since the start.", value=_number(queue[name])
            )
        for name in ("files", "bytes", "limit_files", "limit_bytes"):
            yield GaugeMetricFamily(
                f"yue2_results_{name}", f"Result volume: {name}.", value=_number(results[name])
            )
        agents = self._board.agents()
        for name in ("limit", "pending", "files", "bytes", "limit_files", "limit_bytes"):
            yield GaugeMetricFamily(
                f"yue2_agents_{name}", f"Agents' jobs and files: {name}.", value=_number(agents[name])
            )
        held = GaugeMetricFamily("yue2_http_held", "Places of the HTTP edge taken now.", labels=["kind"])
        for kind, count in self._board.held().items():
            held.add_metric([kind], count)
        yield held
        worker = self._board.worker()
        silent = _number(worker["seconds_since_progress"])
        yield GaugeMetricFamily(
            "yue2_worker_seconds_since_progress", "Seconds since the running job moved.", value=silent
        )


def _number(value: object) -> float:
    return float(value) if isinstance(value, int | float) else 0.0


class Metrics:
    """Owner of the registry and of what is measured as it happens."""

    def __init__(self, board: StatusBoard, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic
        self._registry = CollectorRegistry()
        self._registry.register(_Snapshots(board))
        self._jobs = Histogram(
            "yue2_job_seconds",
            "Seconds on the worker by operation and outcome.",
            ["operation", "outcome"],
            buckets=_JOB_BUCKETS,
            registry=self._registry,
        )
        self._lag = Histogram(
            "yue2_loop_lag_seconds",
            "How late the event loop wakes.",
            buckets=_LAG_BUCKETS,
            registry=self._registry,
        )
        self._worst = Gauge(
            "yue2_loop_lag_worst_seconds", "The worst lateness so far.", registry=self._registry
        )
        self._worst_seen = 0.0

    def job_ended(self, operation: str, outcome: str, seconds: float) -> None:
        """Count one job that left the worker."""
        self._jobs.labels(operation, outcome).observe(seconds)

    def exposition(self) -> bytes:
        """The text that a Prometheus server scrapes."""
        return generate_latest(self._registry)

    async def watch_loop(self) -> None:
        """Measure the loop's lateness for ever."""
        while True:
            due = self._monotonic() + LAG_PERIOD_SECONDS
            await asyncio.sleep(LAG_PERIOD_SECONDS)
            late = max(0.0, self._monotonic() - due)
            self._lag.observe(late)
            if late > self._worst_seen:
                self._worst_seen = late
                self._worst.set(late)
