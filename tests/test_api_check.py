"""The check of a running server finds what is wrong with an answer, and only that."""

import copy
import http.server
import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
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
    "agents": {
        "limit": 8,
        "pending": 1,
        "files": 2,
        "bytes": 900000,
        "limit_bytes": 2147483648,
        "limit_files": 128,
        "ttl_seconds": 3600,
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


@dataclass
class FixedServer:
    """A server of fixed answers: its address, the answers by path, what it was asked with."""

    url: str = ""
    answers: dict[str, object] = field(default_factory=dict)
    methods: set[str] = field(default_factory=set)
    keys: list[str] = field(default_factory=list)  # the Authorization header of each request


@pytest.fixture
def server() -> Iterator[FixedServer]:
    """A sound server."""
    fixed = FixedServer(answers=dict.fromkeys(("/health", "/status", "/system/queue"), SNAPSHOT))
    fixed.answers |= {"/props": {"queue": {}}, "/openapi.json": {"paths": {}}}
    answers = fixed.answers

    class Fixed(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            fixed.methods.add(self.command)
            fixed.keys.append(self.headers.get("Authorization", ""))
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
    fixed.url = f"http://127.0.0.1:{listening.server_port}"
    yield fixed
    listening.shutdown()
    thread.join()
    listening.server_close()


def test_a_sound_server_passes_and_is_only_read(
    server: FixedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--url", server.url], {}) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"19 of 19 checks of {server.url} succeeded"
    assert server.methods == {"GET", "HEAD"}


def test_a_wrong_answer_fails_and_is_shown(server: FixedServer, capsys: pytest.CaptureFixture[str]) -> None:
    server.answers["/status"] = changed("queue", limit=9)
    del server.answers["/openapi.json"]
    assert main(["--url", server.url], {}) == 1
    shown = capsys.readouterr().out
    assert "queue: 5 available with 3 of 9 pending" in shown
    assert "queue.limit differs" in shown
    assert "no paths" in shown


def test_a_server_that_is_not_there_fails(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--url", "http://127.0.0.1:1"], {}) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == (
        "Nothing answers at http://127.0.0.1:1 (Connection refused); start the server, or name another with "
        "URL=http://host:port.\n"
    )


def test_what_is_no_address_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert [main(["--url", url], {}) for url in ("127.0.0.1:8000", "http://127.0.0.1:port")] == [1, 1]
    assert capsys.readouterr().err.count("is no address of a web server") == 2


def test_the_key_comes_from_the_environment_and_is_not_printed(
    server: FixedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    key = "annannannannannann"
    assert main(["--url", server.url], {"STUDIO_API_KEY": key}) == 0
    assert set(server.keys[1:]) == {f"Bearer {key}"}
    assert key not in "".join(capsys.readouterr())


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
