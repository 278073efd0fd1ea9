"""The status snapshot in words."""

import pytest
from pydantic import JsonValue

from server.client import BadAnswer
from server.commands.snapshot import rows

QUEUE: dict[str, JsonValue] = {
    "limit": 8,
    "pending": 3,
    "active": 1,
    "queued": 2,
    "available": 5,
    "accepting": True,
    "retry_after_seconds": 5,
    "rejected": 1,
    "completed": 4,
    "failed": 2,
    "cancelled": 3,
    "active_operation": "synth",
}
RESULTS: dict[str, JsonValue] = {
    "location": "volume",
    "files": 4,
    "bytes": 2_500_000,
    "limit_bytes": 10_737_418_240,
    "limit_files": 256,
    "max_file_bytes": 1_073_741_824,
    "ttl_seconds": 86400,
    "full": False,
}
WORKER: dict[str, JsonValue] = {"state": "running", "phase": "rendering", "seconds_since_progress": 0.2}


def test_each_part_is_told_in_a_line() -> None:
    assert rows({"status": "ok", "queue": QUEUE, "results": RESULTS, "http": {}, "worker": WORKER}) == [
        ("Queue", "1 running, 2 waiting, 5 of 8 places free"),
        ("Since start", "4 completed, 2 failed, 3 cancelled, 1 refused"),
        ("Results", "4 of 256 files, 2.5 MB of 10.7 GB, kept for 24 hours"),
        ("Worker", "running: synth: rendering, last progress 0.2 s ago"),
    ]


def test_an_idle_worker_has_no_last_progress() -> None:
    idle: dict[str, JsonValue] = {"state": "idle", "phase": None, "seconds_since_progress": 90.0}
    told = dict(rows({"queue": QUEUE | {"active_operation": None}, "results": RESULTS, "worker": idle}))
    assert told["Worker"] == "idle"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(1, "1 seconds"), (90, "90 seconds"), (600, "10 minutes"), (7200, "2 hours"), (2592000, "30 days")],
)
def test_a_span_is_told_in_a_fitting_unit(seconds: int, words: str) -> None:
    told = dict(rows({"queue": QUEUE, "results": RESULTS | {"ttl_seconds": seconds}}))
    assert told["Results"].endswith(f"kept for {words}")


def test_a_full_store_and_a_closed_queue_are_told() -> None:
    told = dict(rows({"queue": QUEUE | {"accepting": False}, "results": RESULTS | {"full": True}}))
    assert told["Queue"].endswith("not accepting")
    assert told["Results"].endswith(", full")


def test_anything_else_is_no_snapshot() -> None:
    with pytest.raises(BadAnswer, match="check the address"):
        rows({"status": "ok"})
