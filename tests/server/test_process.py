"""Logging, and the way out."""

import asyncio
import io
import logging
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
import uvicorn
from starlette.routing import Router

from server.log_ring import LogRing, request_id
from server.parts import assemble
from server.process import StudioServer, set_up_logging
from server.settings import load
from server.starting import bind


@pytest.fixture
def root_logger() -> Iterator[logging.Logger]:
    """The root logger, with its handlers and level put back afterwards."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield root
    for library in ("uvicorn", "python_multipart", "mcp", "sse_starlette", "httpx2"):
        logging.getLogger(library).setLevel(logging.NOTSET)
    root.handlers[:], root.level = handlers, level
    logging.captureWarnings(capture=False)


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


@pytest.mark.parametrize("library", ["uvicorn.error", "mcp.server.lowlevel.server", "sse_starlette.sse"])
@pytest.mark.parametrize(("level", "said"), [("debug", ["warned"]), ("info", ["warned"]), ("error", [])])
def test_libraries_speak_only_to_warn(
    root_logger: logging.Logger, library: str, level: str, said: list[str]
) -> None:
    ring = LogRing()
    set_up_logging(ring, level, io.StringIO())
    logging.getLogger(library).info("started")
    logging.getLogger(library).warning("warned")
    assert [line.split()[-1] for line in ring.lines()] == said


def test_a_client_s_broken_form_is_no_line_of_the_log(root_logger: logging.Logger) -> None:
    ring = LogRing()
    set_up_logging(ring, "debug", io.StringIO())
    logging.getLogger("python_multipart.multipart").warning("Did not find boundary")
    assert ring.lines() == []


@pytest.mark.parametrize("keys", ["", "ann=annannannannannann"])
def test_where_it_listens_is_said_once_it_accepts(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, keys: str
) -> None:
    parts = assemble(load({"YUE2_RESULT_DIR": str(tmp_path / "jobs"), "YUE2_API_KEYS": keys}), LogRing())
    config = uvicorn.Config(Router(), lifespan="off", log_config=None)
    config.load()
    server = StudioServer(config, parts)
    server.lifespan = config.lifespan_class(config)
    caplog.set_level("INFO", "server.process")

    async def accept() -> None:
        await server.startup([bound])
        await uvicorn.Server.shutdown(server)

    with bind("0.0.0.0", 0) as bound:
        port = bound.getsockname()[1]
        assert caplog.messages == []
        asyncio.run(accept())
    assert caplog.messages[0].startswith(f"YuE2 Studio listens on http://0.0.0.0:{port}")
    assert caplog.messages[0].endswith(f"results lie in {tmp_path / 'jobs'}")
    assert [record.levelname for record in caplog.records[1:]] == ([] if keys else ["WARNING"])


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
