"""Jobs and clocks for the tests of the queue."""

from collections.abc import Callable, Mapping

from server.jobs.job import Job, JobControl
from server.jobs.rates import Stage


class Hands:
    """A clock that stands still until moved."""

    def __init__(self, now: float = 1000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def idle(control: JobControl) -> None:
    """Work that returns at once."""


def make_job(
    id: str = "a",
    work: Callable[[JobControl], Mapping[str, object] | None] = idle,
    *,
    stages: tuple[Stage, ...] = (),
    operation: str = "synth",
    input_bytes: int = 0,
    group: str = "",
) -> Job:
    """A job with everything set that a test does not care about."""
    return Job(id, operation, "sketch", "owner", 990.0, stages, work, input_bytes=input_bytes, group=group)
