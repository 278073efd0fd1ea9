"""The check of a running server finds what is wrong with an answer, and only that."""

import copy
import http.server
import json
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from tests.api_check import agreement_fault, main, shape_fault, sum_fault

SNAPSHOT: dict[str, Any] = {
    "status": "ok",
    "queue": {
        "limit": 8,
        "pending": 3,
        "active": 1,
        "queued": 2,
        "available": 5,
        "accepting": True,
        "retry_after_seconds": 5,
        "rejected": 0,
        "completed": 4,
        "failed": 0,
        "cancelled": 0,
        "active_operation": "synth",
    },
    "results": {
        "location": "volume",
        "files": 4,
        "bytes": 2500000,
        "limit_bytes": 10737418240,
        "limit_files": 256,
        "max_file_bytes": 1073741824,
        "ttl_seconds": 86400,
        "full": False,
    },
    "http": {
        "workers": 20,
        "synchronous_limit": 8,
        "synchronous_waiters": 0,
        "download_limit": 4,
        "log_stream_limit": 2,
        "upload_decoder_limit": 2,
        "max_upload_bytes": 67108864,
    },
    "worker": {"state": "running", "phase": "acoustic", "seconds_since_progress": 0.4},
}


def changed(part: str, **values: object) -> dict[str, Any]:
    snapshot = copy.deepcopy(SNAPSHOT)
    snapshot[part].update(values)
    return snapshot


@pytest.fixture
def server() -> Iterator[tuple[str, dict[str, object], list[str]]]:
    """A server of fixed answers: its address, the answers by path, the methods it was asked with."""
    answers: dict[str, object] = dict.fromkeys(("/health", "/status", "/system/queue"), SNAPSHOT)
    answers |= {"/props": {"queue": {}}, "/openapi.json": {"paths": {}}}
    methods: list[str] = []

    class Fixed(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            methods.append(self.command)
            body = json.dumps(answers.get(self.path)).encode()
            self.send_response(200 if self.path in answers else 404)
            self.send_header("Cache-Control", "no-store")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        def do_HEAD(self) -> None:
            self.do_GET()

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    listening = http.server.HTTPServer(("127.0.0.1", 0), Fixed)
    thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{listening.server_port}", answers, methods
    listening.shutdown()
    thread.join()
    listening.server_close()


def test_a_sound_server_passes_and_is_only_read(
    server: tuple[str, dict[str, object], list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    url, _, methods = server
    assert main(["--url", url]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"19 of 19 checks of {url} succeeded"
    assert set(methods) == {"GET", "HEAD"}


def test_a_wrong_answer_fails_and_is_shown(
    server: tuple[str, dict[str, object], list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    url, answers, _ = server
    answers["/status"] = changed("queue", limit=9)
    del answers["/openapi.json"]
    assert main(["--url", url]) == 1
    shown = capsys.readouterr().out
    assert "queue: 5 available with 3 of 9 pending" in shown
    assert "queue.limit differs" in shown
    assert "no paths" in shown


def test_a_server_that_is_not_there_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--url", "http://127.0.0.1:1"]) == 1
    assert "refused" in capsys.readouterr().out


def test_the_documented_snapshot_is_right() -> None:
    assert shape_fault(SNAPSHOT) == sum_fault(SNAPSHOT) == ""


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ([], "no JSON object"),
        ({"status": "ok"}, "has the keys ['status']"),
        (SNAPSHOT | {"status": "busy"}, "status is 'busy'"),
        (SNAPSHOT | {"http": None}, "http: "),
        (changed("queue", owner="ann"), "queue: ['owner'] missing or unexpected"),
    ],
)
def test_a_wrong_shape_is_named(body: object, fault: str) -> None:
    assert shape_fault(body).startswith(fault)


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (changed("queue", pending="3"), "a count is no whole number"),
        (changed("queue", queued=1), "3 pending is not 1 active and 1 queued"),
        (changed("queue", available=4), "4 available with 3 of 8 pending"),
        (changed("queue", active_operation=None), "active_operation does not fit active"),
        (changed("results", location="memory"), "location is 'memory'"),
    ],
)
def test_numbers_that_do_not_add_up_are_named(body: dict[str, Any], fault: str) -> None:
    assert fault in sum_fault(body)


def test_counters_of_one_process_do_not_go_back() -> None:
    later = changed("queue", completed=5)
    assert agreement_fault([SNAPSHOT, later, later]) == ""
    assert agreement_fault([later, SNAPSHOT]) == "queue.completed went back: [5, 4]"
