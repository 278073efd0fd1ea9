"""A job on the bar."""

import io

from rich.console import Console

from server.client import Client, JobUpdate
from server.commands.bar import Bar
from server.commands.following import followed, seconds_of
from tests.server.client.double import JOB_ID, studio_double


class NotingBar(Bar):
    """Keeps what it is told."""

    def __init__(self) -> None:
        super().__init__(Console(file=io.StringIO()))
        self.told: list[tuple[str, float, dict[str, int]]] = []

    def report(self, phase: str, fraction: float, **counters: int) -> None:
        self.told.append((phase, fraction, counters))


def test_place_phase_and_counters_are_shown() -> None:
    bar = NotingBar()
    with studio_double() as studio, Client(studio.address, sleep=lambda seconds: None) as client:
        studio.updates.extend(
            [
                {"status": "queued", "queue_position": 2},
                {
                    "status": "running",
                    "phase": "speaking",
                    "progress": 0.5,
                    "counters": {"sentences": 3, "x": "y"},
                },
                {"status": "done"},
            ]
        )
        assert followed(client, JOB_ID, bar).status == "done"
    assert bar.told == [("waiting, place 2", 0.0, {}), ("speaking", 0.5, {"sentences": 3}), ("done", 0.0, {})]


def test_a_length_is_that_of_the_first_track() -> None:
    assert seconds_of(JobUpdate(status="done", tracks={"items": [{"seconds": 2}, {"seconds": 3}]})) == 2.0
    assert seconds_of(JobUpdate(status="done")) is None
