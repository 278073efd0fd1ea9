"""The polite client against a real HTTP server that misbehaves."""

import io
import json
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from server.client import Client, audio
from server.client.answers import JobUpdate
from server.client.errors import (
    BadAnswer,
    JobCancelled,
    JobFailed,
    JobLost,
    Refused,
    ResultChanged,
    Unreachable,
)
from tests.server.client.double import DROP, DROP_AFTER_ACCEPTING, JOB_ID, Studio, studio_double


class Recorder:
    """Time that only waiting moves, and what was said before each wait."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []
        self.told: list[tuple[float, str]] = []

    def pause(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def tell(self, seconds: float, reason: str) -> None:
        self.told.append((seconds, reason))

    def client(self, address: str, key: str = "", reconnect_seconds: float = 60.0) -> Client:
        nonces = iter(f"nonce-{number}" for number in range(100))
        return Client(
            address,
            key,
            clock=lambda: self.now,
            sleep=self.pause,
            random=lambda: 0.0,
            nonce=lambda: next(nonces),
            on_wait=self.tell,
            reconnect_seconds=reconnect_seconds,
        )


@pytest.fixture
def studio() -> Iterator[Studio]:
    with studio_double() as double:
        yield double


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def client(studio: Studio, recorder: Recorder) -> Iterator[Client]:
    with recorder.client(studio.address, "secret") as client:
        yield client


def keys(studio: Studio) -> list[str]:
    return [seen.headers["idempotency-key"] for seen in studio.seen]


def test_a_submission_is_accepted(client: Client, studio: Studio, recorder: Recorder) -> None:
    submission = client.submit("/synth", {"style": "folk", "lyrics": "Grüße"})
    assert (submission.id, submission.queue_position, submission.replayed) == (JOB_ID, 1, False)
    assert json.loads(studio.seen[0].body) == {"style": "folk", "lyrics": "Grüße"}
    assert studio.seen[0].headers["authorization"] == "Bearer secret"
    assert recorder.slept == []


def test_a_full_queue_is_waited_for_with_one_key(client: Client, studio: Studio, recorder: Recorder) -> None:
    studio.refusals = deque([(429, "queue_full", 5), (429, "queue_full", 12), (503, "shutting_down", 5)])
    submission = client.submit("/synth", {"style": "folk"})
    assert recorder.slept == [5, 12, 20]
    assert recorder.told[0] == (5.0, "Refused for queue_full.")
    assert keys(studio) == ["nonce-0"] * 4
    assert (submission.id, submission.replayed) == (JOB_ID, False)


def test_each_logical_call_has_its_own_key(client: Client, studio: Studio) -> None:
    client.submit("/synth", {"style": "folk"})
    client.submit("/synth", {"style": "folk"})
    assert keys(studio) == ["nonce-0", "nonce-1"]


@pytest.mark.parametrize("broken", [DROP, DROP_AFTER_ACCEPTING])
def test_a_broken_submission_makes_one_job(
    client: Client, studio: Studio, recorder: Recorder, broken: tuple[int, str, int]
) -> None:
    studio.refusals = deque([broken])
    submission = client.submit("/synth", {"style": "folk"})
    assert keys(studio) == ["nonce-0", "nonce-0"]
    assert studio.seen[0].body == studio.seen[1].body
    assert len(studio.jobs) == 1
    assert submission.replayed is (broken == DROP_AFTER_ACCEPTING)
    assert recorder.slept == [0.5]


@pytest.mark.parametrize(
    ("status", "code"), [(507, "result_store_full"), (400, "invalid_field"), (401, "unauthorized"), (500, "")]
)
def test_a_refusal_that_waiting_does_not_mend_is_raised_at_once(
    client: Client, studio: Studio, recorder: Recorder, status: int, code: str
) -> None:
    studio.refusals = deque([(status, code, 0)])
    with pytest.raises(Refused) as refused:
        client.submit("/synth", {"style": "folk"})
    assert refused.value.code == code
    assert recorder.slept == []


def test_a_server_that_was_never_there_is_given_up_at_once(recorder: Recorder) -> None:
    with studio_double() as double:
        address = double.address
    with (
        recorder.client(address, reconnect_seconds=5.0) as client,
        pytest.raises(Unreachable, match="Cannot connect") as told,
    ):
        client.submit("/synth", {"style": "folk"})
    assert "Gave up after" not in str(told.value)
    assert recorder.slept == []


def test_a_server_that_goes_away_is_waited_for_and_then_given_up(recorder: Recorder) -> None:
    with ExitStack() as stack:
        with studio_double() as double:
            client = stack.enter_context(recorder.client(double.address, reconnect_seconds=5.0))
            client.status()
            double.refusals.append(DROP)  # the connection that is there ends with the next request
        with pytest.raises(Unreachable, match=r"Gave up after 5 seconds\. Is the server running\?"):
            client.submit("/synth", {"style": "folk"})
    assert recorder.slept == [0.5, 1, 2, 4]


@pytest.mark.parametrize(("key", "path"), [("", "/health"), ("secret", "/status")])
def test_a_key_is_shown_where_keys_are_checked(
    studio: Studio, recorder: Recorder, key: str, path: str
) -> None:
    with recorder.client(studio.address, key) as client:
        client.status()
    assert [seen.path for seen in studio.seen] == [path]


def test_following_tells_each_update_until_done(client: Client, studio: Studio) -> None:
    studio.updates.extend(
        [
            {"status": "queued", "queue_position": 2},
            {"status": "running", "progress": 0.5},
            {"status": "done"},
        ]
    )
    updates: list[JobUpdate] = []
    last = client.follow(JOB_ID, updates.append)
    assert [update.status for update in updates] == ["queued", "running", "done"]
    assert (updates[1].progress, last) == (0.5, updates[-1])
    assert [seen.query for seen in studio.seen] == [{"id": JOB_ID, "wait": "45"}] * 3


def test_a_server_without_long_polls_is_not_asked_in_a_spin(
    client: Client, studio: Studio, recorder: Recorder
) -> None:
    studio.updates.extend([{"status": "running"}, {"status": "running"}, {"status": "done"}])
    client.follow(JOB_ID, lambda update: None)
    assert recorder.slept == [0.5, 0.5]


def test_following_bridges_a_restart(client: Client, studio: Studio, recorder: Recorder) -> None:
    studio.refusals = deque([DROP, (503, "shutting_down", 5), (502, "", 0)])
    studio.updates.append({"status": "done"})
    assert client.follow(JOB_ID, lambda update: None).ended
    assert recorder.slept == [0.5, 5, 0.5]


def test_a_failed_job_is_raised_with_its_code(client: Client, studio: Studio) -> None:
    studio.updates.append(
        {"status": "failed", "code": "interrupted_by_restart", "error": "The server restarted."}
    )
    with pytest.raises(JobFailed, match="The server restarted") as failed:
        client.follow(JOB_ID, lambda update: None)
    assert failed.value.code == "interrupted_by_restart"


def test_a_cancelled_job_is_told_apart(client: Client, studio: Studio) -> None:
    studio.updates.append({"status": "cancelled"})
    with pytest.raises(JobCancelled):
        client.follow(JOB_ID, lambda update: None)


def test_an_expired_job_is_lost(client: Client, studio: Studio) -> None:
    studio.refusals = deque([(410, "expired", 0)])
    with pytest.raises(JobLost):
        client.look(JOB_ID)


def test_cancelling_tells_the_status(client: Client, studio: Studio) -> None:
    assert client.cancel(JOB_ID) == "cancelled"
    assert studio.seen[0].query == {"id": JOB_ID, "cancel": "1"}


def test_a_download_comes_whole(client: Client, studio: Studio) -> None:
    studio.body = bytes(range(256)) * 5000
    sink = io.BytesIO()
    download = client.download(JOB_ID, audio(), sink)
    assert sink.getvalue() == studio.body
    assert (download.received, download.content_type) == (1_280_000, "audio/flac")
    assert studio.seen[0].query == {"id": JOB_ID, "result": "1", "track": "0"}


@pytest.mark.parametrize("ranges", [True, False])
def test_a_download_cut_twice_is_resumed(
    client: Client, studio: Studio, recorder: Recorder, ranges: bool
) -> None:
    studio.body, studio.cuts, studio.ranges = bytes(range(256)) * 5000, deque([500_000, 600_000]), ranges
    sink = io.BytesIO()
    client.download(JOB_ID, audio(), sink)
    assert sink.getvalue() == studio.body
    assert studio.seen[1].headers["range"] == "bytes=500000-"
    assert studio.seen[1].headers["if-match"] == '"body-1"'
    assert recorder.slept == [0.5, 0.5]


def test_a_result_that_changed_is_not_joined(client: Client, studio: Studio) -> None:
    studio.body, studio.cuts, studio.etags = b"x" * 1000, deque([500]), deque(['"one"', '"two"'])
    with pytest.raises(ResultChanged):
        client.download(JOB_ID, audio(), io.BytesIO())


def test_busy_downloads_are_waited_for(client: Client, studio: Studio, recorder: Recorder) -> None:
    studio.body, studio.refusals = b"abc", deque([(429, "too_many_downloads", 5)])
    sink = io.BytesIO()
    client.download(JOB_ID, audio(), sink)
    assert (sink.getvalue(), recorder.slept) == (b"abc", [5])


def test_a_download_that_is_not_ready_is_refused(client: Client, studio: Studio) -> None:
    studio.refusals = deque([(404, "not_ready", 0)])
    with pytest.raises(Refused) as refused:
        client.download(JOB_ID, audio(), io.BytesIO())
    assert refused.value.code == "not_ready"


def test_status_is_asked_for_once(client: Client, studio: Studio, recorder: Recorder) -> None:
    assert client.status() == {"status": "ok", "queue": {"limit": 8}}
    studio.refusals = deque([DROP])
    with pytest.raises(Unreachable):
        client.status()
    assert recorder.slept == []


def test_a_server_of_another_kind_is_told(client: Client, studio: Studio) -> None:
    studio.updates.append({"id": 7})
    with pytest.raises(BadAnswer, match="check the address"):
        client.look(JOB_ID)
