"""The load's threads, against a server that answers as it is told, and what is counted of it."""

import json
import os
import socket
import threading
from collections.abc import Mapping, Sequence

import pytest
from pydantic import JsonValue

from bench.load import (
    QUEUE_LIMIT,
    REFUSED,
    SYNCHRONOUS,
    Work,
    ask_synchronously,
    burst,
    call_was_refused,
    calls_waiting,
    done_within,
    held,
    keep_in_flight,
    refused_together,
    seconds_within,
    still_open,
    synchronous_waiters,
)
from bench.processes import Server

Answer = tuple[int, Mapping[str, JsonValue]]
RUNNING: Answer = (200, {"status": "running"})
DONE: Answer = (200, {"status": "done", "started_at": 10.0, "finished_at": 12.0})
CANCELLED: Answer = (200, {"status": "cancelled", "started_at": 10.0, "finished_at": 11.0})
ACCEPTED: Answer = (202, {"id": "a"})
FULL: Answer = (429, {"code": "queue_full"})
BROKEN: Answer = (500, {"code": "internal"})
DELETED: Answer = (204, {})
SERVER = Server(0, 0)


class Told:
    """In place of a server's answers: those a test gives, in turn; the last of them ends the load."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, answers: Sequence[Answer], overs_at: int = 0) -> None:
        self.over = threading.Event()
        self.asked: list[str] = []
        self._answers = list(answers)
        self._overs_at = overs_at or len(answers)
        self._lock = threading.Lock()
        monkeypatch.setattr(Server, "ask", self._answer_of(self))

    @staticmethod
    def _answer_of(told: "Told") -> object:
        def ask(server: Server, method: str, path: str, payload: JsonValue = None) -> tuple[int, bytes]:
            return told.answer(method, path)

        return ask

    def answer(self, method: str, path: str) -> tuple[int, bytes]:
        with self._lock:
            self.asked.append(f"{method} {path}")
            status, body = self._answers[len(self.asked) - 1]
            if len(self.asked) == self._overs_at:
                self.over.set()
            return status, json.dumps(body).encode()


def test_the_next_job_is_submitted_when_one_has_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    told = Told(monkeypatch, [FULL, ACCEPTED, RUNNING, DONE, DELETED, ACCEPTED, DONE, DELETED])
    assert keep_in_flight(SERVER, "/synth", {}, told.over) == [Work(True, 10.0, 12.0)] * 2
    post, look, delete = "POST /synth", "GET /job?id=a&wait=1", "DELETE /job?id=a"
    assert told.asked == [post, post, look, look, delete, post, look, delete]


def test_the_last_job_is_cancelled_when_it_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    told = Told(monkeypatch, [ACCEPTED, RUNNING, (200, {}), CANCELLED, DELETED], overs_at=2)
    assert keep_in_flight(SERVER, "/check", {}, told.over) == [Work(False, 10.0, 11.0)]
    assert told.asked[2] == "POST /job?id=a&cancel=1"


def test_synchronous_answers_are_counted_and_refusals_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    told = Told(monkeypatch, [(200, {}), FULL, (200, {})])
    assert ask_synchronously(SERVER, told.over) == 2


def test_any_other_answer_ends_the_load(monkeypatch: pytest.MonkeyPatch) -> None:
    for load in (ask_synchronously, lambda server, over: keep_in_flight(server, "/check", {}, over)):
        told = Told(monkeypatch, [BROKEN])
        with pytest.raises(RuntimeError, match="answered 500"):
            load(SERVER, told.over)


@pytest.mark.parametrize(("slipped_in", "refused"), [(0, REFUSED), (3, REFUSED - 3)])
def test_a_burst_fills_the_queue_and_counts_what_is_refused(
    monkeypatch: pytest.MonkeyPatch, slipped_in: int, refused: int
) -> None:
    together = [ACCEPTED] * slipped_in + [FULL] * (REFUSED - slipped_in)
    Told(monkeypatch, [ACCEPTED, ACCEPTED, FULL, *together])
    assert burst(SERVER) == refused


def test_a_queue_that_empties_as_fast_does_not_keep_a_burst(monkeypatch: pytest.MonkeyPatch) -> None:
    told = Told(monkeypatch, [ACCEPTED] * (QUEUE_LIMIT + REFUSED))
    assert burst(SERVER) == 0
    assert told.over.is_set()


def test_waiting_synchronous_requests_are_read_from_the_status(monkeypatch: pytest.MonkeyPatch) -> None:
    Told(monkeypatch, [(200, {"http": {"synchronous_waiters": 7}})])
    assert synchronous_waiters(SERVER) == 7


def test_calls_that_arrive_together_are_refused_or_end_the_load(monkeypatch: pytest.MonkeyPatch) -> None:
    told = Told(monkeypatch, [FULL] * REFUSED)
    assert refused_together(lambda: call_was_refused(SERVER)) == REFUSED
    assert set(told.asked) == {"POST /v1/audio/speech"}
    Told(monkeypatch, [DONE])
    with pytest.raises(RuntimeError, match="answered 200"):
        call_was_refused(SERVER)


def test_eight_calls_are_sent_and_held_until_the_block_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    held_by: list[Answer] = [(200, {"http": {"synchronous_waiters": count}}) for count in (3, SYNCHRONOUS)]
    told = Told(monkeypatch, [ACCEPTED, *held_by, (200, {})])
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = Server(os.getpid(), listener.getsockname()[1])
        with calls_waiting(server) as calls:
            ends = [listener.accept()[0] for _ in calls]
            sent = [end.recv(4096) for end in ends]
            assert still_open(server, calls) == SYNCHRONOUS
        for end in ends:
            end.close()
    assert all(request.startswith(b"POST /v1/audio/speech HTTP/1.1\r\n") for request in sent)
    assert told.asked[-1] == "POST /job?id=a&cancel=1"


def test_a_job_that_never_ran_took_no_time() -> None:
    work = Work.of({"status": "cancelled", "started_at": None, "finished_at": 12.0})
    assert seconds_within([work], 0.0, 100.0) == 0


def test_a_job_that_failed_is_an_error() -> None:
    with pytest.raises(RuntimeError, match="ended as failed: it broke"):
        Work.of({"status": "failed", "error": "it broke"})


def test_only_what_lies_in_the_round_counts() -> None:
    works = [
        Work(True, 5, 12),
        Work(True, 12, 15),
        Work(False, 15, 16),
        Work(True, 18, 25),
        Work(True, 30, 31),
    ]
    assert seconds_within(works, 10.0, 20.0) == 2 + 3 + 1 + 2
    assert done_within(works, 10.0, 20.0) == 2


def test_connections_count_while_the_server_has_them_open() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = Server(os.getpid(), listener.getsockname()[1])
        with held([server.connect() for _ in range(2)]) as connections:
            ends = [listener.accept()[0] for _ in connections]
            assert still_open(server, connections) == 2
            ends[0].close()
            assert still_open(server, connections) == 1
            ends[1].close()
        assert all(connection.fileno() == -1 for connection in connections)
