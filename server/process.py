"""One server process: serve, and leave within ten seconds of a signal."""

import contextlib
import logging
import os
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from types import FrameType
from typing import TextIO

import uvicorn
from starlette.types import ASGIApp

from server.app import begin_stop
from server.connection import Timeouts
from server.limits import CONNECTIONS
from server.log_ring import LineFormatter, LogRing
from server.parts import Parts
from server.protocol import protocol_class
from server.settings import Settings
from server.starting import BACKLOG, announcement, open_to_all

STOP_SECONDS = 9.5  # the whole way out; then by force
GRACE_SECONDS = 3  # of that, for answers under way
_SPEAKING_TO_WARN = ("uvicorn", "mcp", "sse_starlette", "httpx2")
_log = logging.getLogger(__name__)


class StudioServer(uvicorn.Server):
    """uvicorn with our way out: admission stops first, waiting clients are answered, then connections close."""

    def __init__(
        self,
        config: uvicorn.Config,
        parts: Parts,
        stop_seconds: float = STOP_SECONDS,
        leave: Callable[[int], None] = os._exit,
    ) -> None:
        super().__init__(config)
        self._parts = parts
        self._stop_seconds = stop_seconds
        self._leave = leave

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take SIGINT and SIGTERM while serving. Unlike uvicorn's own, does not raise them again afterwards."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {
            number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)
        }
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Ask for the way out, and see to it that it ends: a native call that holds the process cannot delay it."""
        if not self.should_exit:
            deadline = threading.Timer(self._stop_seconds, self._leave, (1,))
            deadline.daemon = True
            deadline.start()
        super().handle_exit(sig, frame)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to accept, then say where: whoever reads it may call at once."""
        await super().startup(sockets)
        for bound in sockets or []:
            _tell(bound, self._parts.settings)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop admission and wake whoever waits, before connections are asked to close."""
        await self._parts.limits.run(lambda: begin_stop(self._parts))
        self._parts.log_ring.close()
        await super().shutdown(sockets)


def _tell(bound: socket.socket, settings: Settings) -> None:
    _log.info(
        "YuE2 Studio listens on %s; results lie in %s", announcement(bound), settings.result_dir.absolute()
    )
    warning = open_to_all(bound, settings)
    if warning:
        _log.warning("%s", warning)


def set_up_logging(ring: LogRing, level: str, stream: TextIO) -> None:
    """Send the whole process's log to the ring and to `stream`, a line with time and request id for each record.

    Of uvicorn's lines and of MCP's only warnings and worse: what they tell of starts, ends and messages, ours tell too.
    """
    written = logging.StreamHandler(stream)
    written.setFormatter(LineFormatter())
    logging.basicConfig(level=level.upper(), handlers=[ring, written], force=True)
    for library in _SPEAKING_TO_WARN:
        logging.getLogger(library).setLevel(max(logging.WARNING, logging.getLogger().level))
    # It warns of clients' forms, which are answered.
    logging.getLogger("python_multipart").setLevel(logging.ERROR)
    logging.captureWarnings(capture=True)


def run_server(
    parts: Parts,
    app: ASGIApp,
    sockets: Sequence[socket.socket],
    timeouts: Timeouts,
    stop_seconds: float = STOP_SECONDS,
) -> int:
    """Serve until a signal; give the exit status. Where the worker hangs in native code, leaves by force."""
    config = uvicorn.Config(
        app,
        http=protocol_class(timeouts, CONNECTIONS),
        loop="auto",
        ws="none",
        interface="asgi3",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        backlog=BACKLOG,
        timeout_keep_alive=int(timeouts.keep_alive),
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    server = StudioServer(config, parts, stop_seconds)
    server.run(sockets=list(sockets))
    if parts.worker.alive:
        _log.error("left while the worker was still inside a native call")
        logging.shutdown()
        os._exit(1)
    return 0
