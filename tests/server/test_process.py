"""Binding, logging and the way out."""

import io
import logging
import signal
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn

from server.log_ring import LogRing, request_id
from server.parts import assemble
from server.process import StudioServer, address, bind, set_up_logging
from server.settings import load


@pytest.fixture
def root_logger() -> Iterator[logging.Logger]:
    """The root logger, with its handlers and level put back afterwards."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield root
    root.handlers[:], root.level = handlers, level
    logging.captureWarnings(capture=False)


def test_a_bound_port_already_lets_callers_queue() -> None:
    with (
        bind("127.0.0.1", 0) as bound,
        socket.create_connection(bound.getsockname()[:2], timeout=5) as caller,
    ):
        assert caller.getpeername()[1] == bound.getsockname()[1]
        assert address(bound) == f"http://127.0.0.1:{bound.getsockname()[1]}"


def test_a_taken_port_is_told() -> None:
    with bind("127.0.0.1", 0) as bound, pytest.raises(OSError, match="in use"):
        bind("127.0.0.1", bound.getsockname()[1])


def test_an_ipv6_address_is_bracketed() -> None:
    with bind("::1", 0) as bound:
        assert address(bound).startswith("http://[::1]:")


def test_lines_go_to_ring_and_stream_with_the_request_id(root_logger: logging.Logger) -> None:
    ring, stream = LogRing(), io.StringIO()
    set_up_logging(ring, "info", stream)
    token = request_id.set("abc")
    logging.getLogger("server.somewhere").info("said")
    request_id.reset(token)
    logging.getLogger("server.somewhere").debug("not said")
    assert ring.lines() == stream.getvalue().splitlines()
    assert len(ring.lines()) == 1
    assert ring.lines()[0].endswith("INFO server.somewhere [abc] said")


def test_a_second_signal_does_not_prolong_the_way_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[int] = []
    gone = threading.Event()

    def leave(status: int) -> None:
        left.append(status)
        gone.set()

    parts = assemble(load({"YUE2_RESULT_DIR": str(tmp_path / "jobs")}), LogRing())
    server = StudioServer(uvicorn.Config(lambda: None), parts, 0.01, leave)
    server.handle_exit(signal.SIGTERM, None)
    server.handle_exit(signal.SIGTERM, None)
    assert gone.wait(5)
    assert server.should_exit
    assert left == [1]


def test_signals_are_given_back_after_serving(tmp_path: Path) -> None:
    parts = assemble(load({"YUE2_RESULT_DIR": str(tmp_path / "jobs")}), LogRing())
    server = StudioServer(uvicorn.Config(lambda: None), parts)
    before = signal.getsignal(signal.SIGTERM)
    with server.capture_signals():
        assert signal.getsignal(signal.SIGTERM) == server.handle_exit
    assert signal.getsignal(signal.SIGTERM) == before
