"""The production queue, store and HTTP edge around an artificial worker, in real processes.

Everything here is behaviour that holds on any machine; speed is measured in `bench/`.
"""

import hashlib
import os
import random
import re
import resource
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.server.server_process import PATIENCE_SECONDS, ServerProcess

pytestmark = pytest.mark.runtime
MEGABYTE = 1 << 20
RECORDING = {"files": {"file": ("talk.wav", b"RIFF", "audio/wav")}, "data": {"model": "whisper-1"}}
SONG = {"json": {"prompt": "folk"}}
# What OpenAI's and ElevenLabs' clients would post to each path that makes a job.
COMPATIBLE_CALLS: dict[str, dict[str, Any]] = {
    "/v1/audio/speech": {"json": {"model": "tts-1", "voice": "alloy", "input": "Hello."}},
    "/v1/audio/transcriptions": RECORDING,
    "/v1/audio/translations": RECORDING,
    "/v1/music": SONG,
    "/v1/music/stream": SONG,
    "/v1/music/detailed": SONG,
    "/v1/music/detailed/stream": SONG,
}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """One server for the tests that leave it as they found it: idle."""
    with ServerProcess(tmp_path_factory.mktemp("shared") / "output") as server:
        yield server
        assert server.advance(0) == []


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server that gives a slow peer half a second."""
    with ServerProcess(tmp_path_factory.mktemp("impatient") / "output", "--timeout", "0.5") as server:
        yield server
        assert server.advance(0) == []


def drain(server: ServerProcess) -> None:
    """Let every job end."""
    server.until(lambda: server.status()["queue"]["pending"] == 0)


# --- admission -------------------------------------------------------------------------------------------------


def test_eight_jobs_are_accepted_the_running_one_included_and_the_ninth_is_refused(
    shared: ServerProcess,
) -> None:
    before = shared.status()["queue"]["rejected"]
    ids = [shared.submit("sleep", seconds=20) for _ in range(8)]
    refused = shared.client.post("/check", json={"mode": "write"})
    queue = shared.status()["queue"]
    assert (refused.status_code, refused.headers["retry-after"]) == (429, "5")
    assert refused.json()["code"] == "queue_full"
    assert refused.json()["retry_after_seconds"] == 5
    assert (queue["pending"], queue["available"], queue["accepting"]) == (8, 0, False)
    assert queue["rejected"] == before + 1
    assert [shared.cancel(id) for id in reversed(ids)][-1] == "running"
    drain(shared)


def test_every_generating_route_stands_before_the_same_gate(shared: ServerProcess) -> None:
    ids = [shared.submit("sleep", seconds=20) for _ in range(8)]
    answers = [
        shared.client.post("/synth", json={"style": "folk"}),
        shared.client.post("/plan", json={"style": "folk"}),
        shared.client.post("/sketch", json={"style": "folk"}),
        shared.client.post("/vae?op=decode", content=bytes(256)),
        shared.client.post("/synth", files={"request": b"{}", "latents": bytes(256)}),
        shared.client.post("/check/sync", json={}),
    ]
    calls = [shared.client.post(path, **sent) for path, sent in COMPATIBLE_CALLS.items()]
    health = shared.client.get("/health")
    for id in reversed(ids):
        shared.cancel(id)
    drain(shared)
    assert [answer.json()["code"] for answer in answers] == ["queue_full"] * 6
    assert [call.json()["error"]["code"] for call in calls] == ["queue_full"] * len(calls)
    assert {call.headers["retry-after"] for call in calls} == {"5"}
    assert health.status_code == 200


def test_a_refusal_comes_before_the_body_is_read(shared: ServerProcess) -> None:
    ids = [shared.submit("sleep", seconds=20) for _ in range(8)]
    head = f"POST /check HTTP/1.1\r\nHost: {shared.address[0]}\r\nContent-Length: 1000000\r\n\r\n"
    with shared.socket(head.encode()) as raw:
        answer = raw.recv(65536)
    for id in reversed(ids):
        shared.cancel(id)
    drain(shared)
    assert answer.startswith(b"HTTP/1.1 429 ")


def test_a_refused_upload_is_not_read_to_its_end(shared: ServerProcess) -> None:
    ids = [shared.submit("sleep", seconds=20) for _ in range(8)]
    head = "POST /check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1900000\r\n\r\n"
    with shared.socket(head.encode()) as raw:
        answer = b""
        while block := _received(raw):
            answer += block
    for id in reversed(ids):
        shared.cancel(id)
    drain(shared)
    assert answer.startswith(b"HTTP/1.1 429 ")
    assert b"connection: close" in answer.lower()


def test_cancelling_a_queued_job_frees_its_place_at_once(shared: ServerProcess) -> None:
    ids = [shared.submit("sleep", seconds=20) for _ in range(8)]
    assert shared.job(ids[7])["queue_position"] == 7
    assert shared.cancel(ids[4]) == "cancelled"
    assert shared.status()["queue"]["available"] == 1
    assert shared.job(ids[7])["queue_position"] == 6
    replacement = shared.submit("sleep", seconds=20)
    for id in [replacement, *reversed(ids)]:
        shared.cancel(id)
    drain(shared)
    assert {shared.job(id)["status"] for id in [replacement, *ids]} == {"cancelled"}


def test_an_active_job_is_cancelled_at_its_next_checkpoint(shared: ServerProcess) -> None:
    id = shared.submit("sleep", seconds=20)
    shared.running(id)
    assert shared.cancel(id) == "running"
    ended = shared.finish(id)
    assert ended["status"] == "cancelled"
    assert ended["eta_seconds"] is None
    assert "error" not in ended


def test_a_completion_wins_over_a_late_cancel(shared: ServerProcess) -> None:
    id = shared.submit("hang", seconds=0.3, size=10)
    shared.running(id)
    shared.cancel(id)
    assert shared.finish(id)["status"] == "done"
    assert shared.cancel(id) == "done"
    assert len(shared.client.get("/job", params={"id": id, "track": "0"}).content) == 0


def test_an_exception_or_lack_of_memory_fails_the_job_and_never_the_worker(shared: ServerProcess) -> None:
    codes = [shared.finish(shared.submit(mode))["code"] for mode in ("raise", "memory")]
    assert codes == ["engine_error", "out_of_memory"]
    assert shared.finish(shared.submit())["status"] == "done"


# --- progress ----------------------------------------------------------------------------------------------------


def test_events_tell_progress_that_never_falls_and_end_with_the_job(shared: ServerProcess) -> None:
    states = shared.events(shared.submit("sleep", seconds=0.5))
    progress = [state["progress"] for state in states]
    assert progress == sorted(progress)
    assert states[-1]["status"] == "done"
    assert progress[-1] == 1.0
    assert {state["status"] for state in states} <= {"queued", "running", "done"}
    assert len(states) > 3


def test_a_finished_job_tells_its_times_metrics_and_tracks(shared: ServerProcess) -> None:
    job = shared.finish(shared.submit("write", size=5000))
    assert job["expires_at"] == pytest.approx(job["finished_at"] + 86400, abs=1)
    assert job["created_at"] <= job["started_at"] <= job["finished_at"]
    assert set(job["metrics"]) == {"pipeline_seconds", "encoding_packaging_seconds", "worker_seconds"}
    assert job["tracks"] == {
        "count": 1,
        "items": [{"content_type": "application/octet-stream", "bytes": 5000, "seconds": 0.0}],
    }


def test_what_is_being_staged_is_counted_while_it_grows(shared: ServerProcess) -> None:
    before = shared.status()["results"]
    id = shared.submit("slow-write", seconds=20, size=10 * MEGABYTE)
    shared.until(lambda: shared.status()["results"]["bytes"] >= before["bytes"] + MEGABYTE)
    assert shared.status()["results"]["files"] == before["files"] + 1
    assert shared.status()["worker"]["state"] == "running"
    shared.cancel(id)
    shared.finish(id)
    assert shared.status()["results"] == before


# --- idempotency -------------------------------------------------------------------------------------------------


def test_one_key_is_one_job_even_while_the_queue_is_full(shared: ServerProcess) -> None:
    first = shared.submit("sleep", seconds=20, key="song-1")
    rest = [shared.submit("sleep", seconds=20) for _ in range(7)]
    payload = {"mode": "sleep", "seconds": 20, "bytes": 1000}
    again = shared.client.post("/check", json=payload, headers={"Idempotency-Key": "song-1"})
    other = shared.client.post("/check", json={"mode": "raise"}, headers={"Idempotency-Key": "song-1"})
    for id in [*reversed(rest), first]:
        shared.cancel(id)
    drain(shared)
    assert (again.status_code, again.json()["id"]) == (200, first)
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_mismatch")


def test_many_at_once_with_one_key_make_one_job(shared: ServerProcess) -> None:
    before = shared.status()["queue"]["completed"]
    with ThreadPoolExecutor(8) as pool:
        ids = set(pool.map(lambda _: shared.submit("write", key="race"), range(24)))
    assert len(ids) == 1
    assert shared.finish(ids.pop())["status"] == "done"
    assert shared.status()["queue"]["completed"] == before + 1


# --- results -----------------------------------------------------------------------------------------------------


def test_ranges_and_conditions_read_the_stored_bytes(shared: ServerProcess) -> None:
    id = shared.submit("write", size=100_000)
    shared.finish(id)
    ask = {"id": id, "track": "0"}
    whole = shared.client.get("/job", params=ask)
    tag = whole.headers["etag"]
    part = shared.client.get("/job", params=ask, headers={"Range": "bytes=10-19", "If-Range": tag})
    tail = shared.client.get("/job", params=ask, headers={"Range": "bytes=-5"})
    beyond = shared.client.get("/job", params=ask, headers={"Range": "bytes=200000-"})
    known = shared.client.get("/job", params=ask, headers={"If-None-Match": tag})
    other = shared.client.get("/job", params=ask, headers={"If-Match": '"other"'})
    head = shared.client.head("/job", params=ask)
    assert (part.status_code, part.content) == (206, whole.content[10:20])
    assert part.headers["content-range"] == "bytes 10-19/100000"
    assert (tail.status_code, tail.content) == (206, whole.content[-5:])
    assert (beyond.status_code, beyond.headers["content-range"]) == (416, "bytes */100000")
    assert (known.status_code, known.content) == (304, b"")
    assert (other.status_code, other.json()["code"]) == (412, "precondition_failed")
    assert (head.headers["content-length"], head.content) == ("100000", b"")


def test_unknown_unfinished_expired_and_deleted_are_four_answers(shared: ServerProcess) -> None:
    running = shared.submit("sleep", seconds=20)
    waiting = shared.client.get("/job", params={"id": running, "result": "1"})
    undeletable = shared.client.delete("/job", params={"id": running})
    shared.cancel(running)
    done = shared.submit()
    shared.finish(done)
    deleted = shared.client.delete("/job", params={"id": done})
    gone = shared.client.get("/job", params={"id": done})
    unknown = shared.client.get("/job", params={"id": "0" * 16})
    assert (waiting.status_code, waiting.json()["code"]) == (404, "not_ready")
    assert (undeletable.status_code, undeletable.json()["code"]) == (404, "not_ready")
    assert deleted.status_code == 204
    assert (gone.status_code, gone.json()["code"]) == (410, "expired")
    assert (unknown.status_code, unknown.json()["code"]) == (404, "unknown_job")


def test_results_expire_for_every_look_up_and_free_their_room(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "output", environ={"YUE2_RESULT_TTL_SECONDS": "100"}) as server:
        id = server.submit()
        server.finish(id)
        assert server.advance(99) == []
        assert server.job(id)["status"] == "done"
        assert server.advance(2) == []
        assert server.job(id)["http"] == 410
        assert server.status()["results"]["files"] == 0
        assert server.advance(100) == []
        assert server.job(id)["http"] == 404


def test_a_leased_result_outlives_its_expiry_until_the_reader_is_done(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "output", environ={"YUE2_RESULT_TTL_SECONDS": "100"}) as server:
        id = server.submit("write", size=64 * MEGABYTE)
        server.finish(id)
        request = f"GET /job?id={id}&track=0 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
        with server.socket(request.encode(), receive_buffer=65536) as raw:
            received = len(raw.recv(1000))
            server.advance(101)
            assert server.job(id)["http"] == 410
            assert server.status()["results"]["bytes"] == 64 * MEGABYTE
            while block := raw.recv(MEGABYTE):
                received += len(block)
        assert received > 64 * MEGABYTE
        server.until(lambda: server.status()["results"]["bytes"] == 0)
        assert server.advance(0) == []


def test_budgets_refuse_and_never_evict(tmp_path: Path) -> None:
    limits = {"YUE2_RESULT_MAX_BYTES": str(MEGABYTE), "YUE2_RESULT_MAX_FILES": "2"}
    with ServerProcess(tmp_path / "output", environ=limits) as server:
        kept = server.submit("write", size=600_000)
        assert server.finish(kept)["status"] == "done"
        over = server.finish(server.submit("write", size=600_000))
        assert (over["status"], over["code"]) == ("failed", "result_store_full")
        second = server.submit("write", size=1000)
        assert server.finish(second)["status"] == "done"
        refused = server.client.post("/check", json={})
        assert (refused.status_code, refused.json()["code"]) == (507, "result_store_full")
        calls = [server.client.post(path, **sent) for path, sent in COMPATIBLE_CALLS.items()]
        assert {(call.status_code, call.json()["error"]["code"]) for call in calls} == {
            (507, "result_store_full")
        }
        assert {call.headers["x-should-retry"] for call in calls} == {"false"}
        assert server.status()["results"]["full"] is True
        assert len(server.client.get("/job", params={"id": kept, "track": "0"}).content) == 600_000
        server.client.delete("/job", params={"id": second})
        assert server.finish(server.submit("write", size=1000))["status"] == "done"
        assert server.advance(0) == []


def test_a_disk_without_room_fails_the_job_cleanly(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "output") as server:
        # A limit on file size stands for the full disk: the kernel refuses the write in the same way (EFBIG).
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (4 * MEGABYTE, resource.RLIM_INFINITY))
        failed = server.finish(server.submit("write", size=20 * MEGABYTE))
        fits = server.finish(server.submit("write", size=1000))
        assert (failed["status"], failed["code"]) == ("failed", "disk_full")
        assert fits["status"] == "done"
        assert server.status()["results"]["files"] == 1
        assert server.advance(0) == []


# --- restarts ----------------------------------------------------------------------------------------------------


def test_results_keep_their_expiry_and_interrupted_jobs_say_so_after_a_kill(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "output") as server:
        done = server.submit(size=4321)
        finished = server.finish(done)
        running = server.submit("slow-write", seconds=20, size=MEGABYTE, key="mine")
        queued = server.submit("sleep", seconds=20)
        server.running(running)
        server.stop(signal.SIGKILL)
    with ServerProcess(tmp_path / "output") as server:
        assert server.job(done)["expires_at"] == finished["expires_at"]
        assert len(server.client.get("/job", params={"id": done, "track": "0"}).content) == 4321
        assert [server.job(id)["code"] for id in (running, queued)] == ["interrupted_by_restart"] * 2
        queue = server.status()["queue"]
        assert [queue[name] for name in ("pending", "rejected", "completed", "failed", "cancelled")] == [
            0
        ] * 5
        assert server.submit("slow-write", seconds=20, size=MEGABYTE, key="mine") == running
        assert not list((tmp_path / "output" / "jobs").glob(".staging*"))
        assert server.advance(0) == []


def test_a_stop_interrupts_jobs_and_ends_within_its_time(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "output") as server:
        running, queued = server.submit("sleep", seconds=60), server.submit()
        server.running(running)
        with ThreadPoolExecutor(1) as pool:
            waiter = pool.submit(server.job, running, 40)
            server.until(lambda: server.status()["queue"]["active"] == 1)
            assert server.stop() == 0
            answer = waiter.result(PATIENCE_SECONDS)
    with ServerProcess(tmp_path / "output") as server:
        assert {server.job(id)["code"] for id in (running, queued)} == {"interrupted_by_restart"}
    assert answer["status"] in ("running", "failed")


def test_a_native_call_that_does_not_return_cannot_hold_the_process(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "output", "--stop", "1") as server:
        stuck = server.submit("native", seconds=600)
        server.running(stuck)
        assert server.stop() == 1
    with ServerProcess(tmp_path / "output") as server:
        assert server.job(stuck)["code"] == "interrupted_by_restart"


def test_a_second_server_on_the_same_folder_ends_at_once_and_names_the_first(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "output") as server:
        second = subprocess.run(
            [sys.executable, "-m", "server", "serve", "--port", "0"],
            cwd=tmp_path / "output",
            env={name: value for name, value in os.environ.items() if not name.startswith("YUE2_")}
            | {"PYTHONPATH": str(Path(__file__).parents[2])},
            capture_output=True,
            text=True,
            timeout=PATIENCE_SECONDS,
            check=False,
        )
        assert second.returncode != 0
        assert f"process {server.process.pid}" in second.stderr


@pytest.mark.parametrize("seed", range(2))
def test_a_kill_at_any_moment_leaves_whole_results_or_interrupted_jobs(tmp_path: Path, seed: int) -> None:
    dice = random.Random(seed)
    known: list[str] = []
    for _ in range(2):
        with ServerProcess(tmp_path / "output", environ={"YUE2_QUEUE_LIMIT": "64"}) as server:
            known.append(server.submit("write", size=dice.randrange(1, 400_000)))
            killer = threading.Timer(dice.random() * 0.25, server.process.kill)
            killer.start()
            try:
                while True:
                    known.append(server.submit("write", size=dice.randrange(1, 400_000)))
            except (httpx2.TransportError, AssertionError):
                killer.join()
            server.stop(signal.SIGKILL)
    with ServerProcess(tmp_path / "output", environ={"YUE2_QUEUE_LIMIT": "64"}) as server:
        for id in known:
            job = server.job(id)
            assert job["status"] in ("done", "failed"), job
            if job["status"] == "done":
                answer = server.client.get("/job", params={"id": id, "result": "1"})
                assert answer.headers["etag"].startswith(f'"{hashlib.sha256(answer.content).hexdigest()}')
                assert len(answer.content) == job["tracks"]["items"][0]["bytes"]
            else:
                assert job["code"] == "interrupted_by_restart"
        assert server.advance(0) == []


# --- the HTTP edge -----------------------------------------------------------------------------------------------


def test_eight_synchronous_requests_are_held_and_the_ninth_is_refused(tmp_path: Path) -> None:
    with (
        ServerProcess(tmp_path / "output", environ={"YUE2_QUEUE_LIMIT": "32"}) as server,
        ExitStack() as stack,
    ):
        first = server.submit("sleep", seconds=60)
        body = b'{"mode": "write", "bytes": 9}'
        head = f"POST /check/sync HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n\r\n".encode()
        held = [stack.enter_context(server.socket(head + body)) for _ in range(8)]
        server.until(lambda: server.status()["http"]["synchronous_waiters"] == 8)
        ninth = server.client.post("/check/sync", json={})
        assert (ninth.status_code, ninth.json()["code"]) == (429, "too_many_synchronous")
        assert server.cancel(first) == "running"
        assert [raw.recv(12) for raw in held] == [b"HTTP/1.1 200"] * 8
        server.until(lambda: server.status()["http"]["synchronous_waiters"] == 0)


def test_a_stop_tells_every_synchronous_call_and_waits_for_none(tmp_path: Path) -> None:
    with (
        ServerProcess(tmp_path / "output", environ={"YUE2_QUEUE_LIMIT": "32"}) as server,
        ExitStack() as stack,
    ):
        server.running(server.submit("sleep", seconds=60))
        head = b"POST /check/sync HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}"
        held = [stack.enter_context(server.socket(head)) for _ in range(8)]
        server.until(lambda: server.status()["http"]["synchronous_waiters"] == 8)
        assert server.stop() == 0  # within its time, after which it would have left by force, with 1
        answers = [raw.recv(65536).decode() for raw in held]
    assert [answer[:12] for answer in answers] == ["HTTP/1.1 503"] * 8
    assert all("interrupted_by_restart" in answer for answer in answers)
    assert all("x-should-retry: false" in answer.lower() for answer in answers)


def test_a_synchronous_deadline_counts_the_time_in_the_queue(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "output", environ={"YUE2_SYNC_DEADLINE_SECONDS": "1"}) as server:
        first = server.submit("sleep", seconds=60)
        late = server.client.post("/check/sync", json={"mode": "write"})
        assert (late.status_code, late.json()["code"]) == (504, "deadline_exceeded")
        assert late.headers["x-should-retry"] == "false"
        server.cancel(first)
        assert server.finish(late.headers["x-yue2-job-id"])["status"] == "done"


def test_health_is_answered_through_a_burst_of_refusals(shared: ServerProcess) -> None:
    ids = [shared.submit("sleep", seconds=20) for _ in range(8)]
    before = shared.status()["queue"]["rejected"]
    start = threading.Barrier(33)

    def refused(_: int) -> int:
        start.wait(PATIENCE_SECONDS)
        return httpx2.post(f"{shared.url}/check", json={"mode": "write"}, trust_env=False).status_code

    with ThreadPoolExecutor(32) as pool:
        burst = pool.map(refused, range(32))
        start.wait(PATIENCE_SECONDS)
        probes = [shared.client.get("/health") for _ in range(20)]
        codes = list(burst)
    queue = shared.status()["queue"]
    assert [shared.job(id)["http"] for id in ids] == [200] * 8
    assert [shared.cancel(id) for id in reversed(ids)] == ["cancelled"] * 7 + ["running"]
    drain(shared)
    assert codes == [429] * 32
    assert {probe.status_code for probe in probes} == {200}
    assert queue["rejected"] == before + 32


def test_four_downloads_at_once_and_no_fifth(shared: ServerProcess) -> None:
    id = shared.submit("write", size=16 * MEGABYTE)
    shared.finish(id)
    request = f"GET /job?id={id}&track=0 HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    with ExitStack() as stack:
        readers = [stack.enter_context(shared.socket(request, receive_buffer=65536)) for _ in range(4)]
        assert [raw.recv(12) for raw in readers] == [b"HTTP/1.1 200"] * 4
        fifth = shared.client.get("/job", params={"id": id, "track": "0"})
        assert (fifth.status_code, fifth.json()["code"]) == (429, "too_many_downloads")
        assert shared.client.get("/job", params={"id": id}).status_code == 200
    shared.until(lambda: shared.client.get("/job", params={"id": id, "track": "0"}).status_code == 200)


@pytest.mark.parametrize(
    "sent",
    [b"", b"GET /health HT", b"POST /check HTTP/1.1\r\nHost: localhost\r\nContent-Length: 90\r\n\r\n{"],
    ids=["silent", "half a header", "half a body"],
)
def test_a_peer_that_stops_sending_is_let_go(impatient: ServerProcess, sent: bytes) -> None:
    with impatient.socket(sent) as raw:
        answer = b""
        while block := _received(raw):
            answer += block
    assert answer == b"" or re.match(rb"HTTP/1.1 (400|408) ", answer)


def test_a_reader_that_stalls_loses_its_connection_and_its_lease(impatient: ServerProcess) -> None:
    id = impatient.submit("write", size=16 * MEGABYTE)
    impatient.finish(id)
    request = f"GET /job?id={id}&track=0 HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    with impatient.socket(request, receive_buffer=65536) as raw:
        raw.recv(1000)
        held = impatient.status()["results"]["bytes"]
        impatient.client.delete("/job", params={"id": id})
        impatient.until(lambda: impatient.status()["results"]["bytes"] == held - 16 * MEGABYTE)
    assert impatient.job(id)["http"] == 410


def test_a_reset_in_the_middle_of_a_range_frees_the_lease(shared: ServerProcess) -> None:
    id = shared.submit("write", size=16 * MEGABYTE)
    shared.finish(id)
    head = f"GET /job?id={id}&track=0 HTTP/1.1\r\nHost: localhost\r\nRange: bytes=1000-\r\n\r\n"
    with shared.socket(head.encode(), receive_buffer=65536) as raw:
        assert raw.recv(12) == b"HTTP/1.1 206"
        raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    held = shared.status()["results"]["bytes"]
    shared.client.delete("/job", params={"id": id})
    shared.until(lambda: shared.status()["results"]["bytes"] == held - 16 * MEGABYTE)
    assert shared.job(id)["http"] == 410


def test_waiting_clients_that_leave_free_their_places(shared: ServerProcess) -> None:
    id = shared.submit("sleep", seconds=60)
    request = f"GET /job?id={id}&wait=45 HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()
    with ExitStack() as stack:
        for _ in range(70):
            stack.enter_context(shared.socket(request))
        shared.until(lambda: _held(shared, "waits") == 64)
    shared.until(lambda: _held(shared, "waits") == 0)
    shared.cancel(id)
    assert shared.finish(id)["status"] == "cancelled"


def test_a_stop_ends_log_streams_and_waits_for_nobody(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "output") as server, ExitStack() as stack:
        logs = stack.enter_context(server.socket(b"GET /logs HTTP/1.1\r\nHost: localhost\r\n\r\n"))
        assert logs.recv(12) == b"HTTP/1.1 200"
        assert server.stop() == 0
        rest = b""
        while block := _received(logs):
            rest += block
        assert rest.endswith(b"0\r\n\r\n")


def test_two_log_streams_and_no_third(shared: ServerProcess) -> None:
    request = b"GET /logs HTTP/1.1\r\nHost: localhost\r\n\r\n"
    with ExitStack() as stack:
        streams = [stack.enter_context(shared.socket(request)) for _ in range(2)]
        assert [raw.recv(12) for raw in streams] == [b"HTTP/1.1 200"] * 2
        third = shared.client.get("/logs")
        assert (third.status_code, third.json()["code"]) == (429, "too_many_streams")
    shared.until(lambda: _opens(shared, request))


def test_another_callers_jobs_are_unknown(tmp_path: Path) -> None:
    keys = {"YUE2_API_KEYS": "ann=annannannannannann,bob=bobbobbobbobbobbob"}
    with ServerProcess(tmp_path / "output", environ=keys) as server:
        assert server.client.post("/check", json={}).status_code == 401
        assert server.client.get("/health").status_code == 200
        ann = {"Authorization": "Bearer annannannannannann"}
        id = server.client.post("/check", json={}, headers=ann).json()["id"]
        for who, status in ((ann, 200), ({"x-api-key": "bobbobbobbobbobbob"}, 404)):
            answers = [
                server.client.get("/job", params={"id": id, "wait": "20"}, headers=who),
                server.client.get("/job", params={"id": id, "result": "1"}, headers=who),
                server.client.post("/job", params={"id": id, "cancel": "1"}, headers=who),
            ]
            assert [answer.status_code for answer in answers] == [status] * 3
        traded = server.client.post("/session", json={"key": "annannannannannann"})
        assert "HttpOnly" in traded.headers["set-cookie"]
        assert server.client.get("/job", params={"id": id}).status_code == 200


def test_threads_switch_often_while_serving(shared: ServerProcess) -> None:
    answer = shared.client.post("/check/clock", json={"seconds": 0})
    assert answer.json()["switch_interval_seconds"] == pytest.approx(0.001)


def _received(raw: socket.socket) -> bytes:
    try:
        return raw.recv(65536)
    except ConnectionResetError:
        return b""


def _opens(server: ServerProcess, request: bytes) -> bool:
    with server.socket(request) as raw:
        return raw.recv(12) == b"HTTP/1.1 200"


def _held(server: ServerProcess, kind: str) -> float:
    """Places of that kind taken now, as `/metrics` tells them."""
    found = re.search(
        rf'^yue2_http_held{{kind="{kind}"}} (\S+)$', server.client.get("/metrics").text, re.MULTILINE
    )
    assert found is not None
    return float(found[1])
