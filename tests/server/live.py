"""A real uvicorn server in a thread, on a port of its own, and raw sockets to it."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

import uvicorn
from starlette.types import ASGIApp

from server.protocol import GuardedProtocol

PATIENCE_SECONDS = 10.0


class LiveServer:
    """Serves `app` until the block is left. The socket listens from the start, so nobody has to wait for it."""

    def __init__(
        self, app: ASGIApp, protocol: type[GuardedProtocol], loop: str = "uvloop", send_buffer: int = 0
    ) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        if send_buffer:
            # Connections inherit it; else the kernel takes megabytes before a slow reader is felt.
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
        self.port: int = self._socket.getsockname()[1]
        config = uvicorn.Config(
            app,
            http=protocol,
            ws="none",
            loop=loop,
            lifespan="off",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=2,
        )
        self.server = uvicorn.Server(config)
        self._thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self._socket]})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.server.should_exit = True
        self._thread.join(PATIENCE_SECONDS)
        self._socket.close()
        assert not self._thread.is_alive()

    @contextmanager
    def connect(self, receive_buffer: int = 0) -> Iterator[socket.socket]:
        """A connected socket; a small receive buffer makes a reader that stalls soon felt."""
        client = socket.socket()
        client.settimeout(PATIENCE_SECONDS)
        if receive_buffer:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        try:
            client.connect(("127.0.0.1", self.port))
            yield client
        finally:
            client.close()


def read_to_end(client: socket.socket) -> bytes:
    """Everything until the server ends the connection, by a close or a reset."""
    received = bytearray()
    while True:
        try:
            chunk = client.recv(65536)
        except ConnectionResetError:
            return bytes(received)
        if not chunk:
            return bytes(received)
        received += chunk


def read_response(client: socket.socket) -> tuple[int, dict[str, str], bytes]:
    """One response with a Content-Length, and not a byte more."""
    head = bytearray()
    while not head.endswith(b"\r\n\r\n"):
        byte = client.recv(1)
        if not byte:
            raise EOFError(bytes(head))
        head += byte
    status_line, *lines = head.decode("latin-1").strip().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    body = bytearray()
    while len(body) < int(headers.get("content-length", "0")):
        body += client.recv(int(headers["content-length"]) - len(body))
    return int(status_line.split()[1]), headers, bytes(body)
