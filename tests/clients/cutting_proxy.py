"""A TCP proxy between a client and the server that ends connections where a test asks for it."""

import asyncio
import socket
import struct
import threading
from collections import deque
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

PATIENCE_SECONDS = 10.0
RESET = struct.pack("ii", 1, 0)  # SO_LINGER: on, 0 s: a close is a reset


@dataclass(frozen=True, slots=True)
class Cut:
    """Where a connection ends by itself: bytes that still pass in a direction; None for no end."""

    sent: int | None = None
    received: int | None = None


class _Link:
    """One connection of a client and its counterpart to the server."""

    def __init__(self, near: asyncio.StreamWriter, far: asyncio.StreamWriter) -> None:
        self.near = near
        self.far = far

    def cut(self) -> None:
        """A reset to both, as when a network breaks."""
        for writer in (self.near, self.far):
            sock = writer.get_extra_info("socket")
            if sock is not None and not writer.transport.is_closing():
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            writer.transport.abort()


class CuttingProxy:
    """Relays to `port`. Owner of its thread, its loop and the connections on it.

    `plan` says how the next connections end, in their order; those after them last. `cut` ends all there are.
    """

    def __init__(self, port: int) -> None:
        self._server_port = port
        self._plans: deque[Cut] = deque()
        self._links: set[_Link] = set()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._connections = 0
        self._connected_more = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run)
        self._stopping = asyncio.Event()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(PATIENCE_SECONDS)
        assert not self._thread.is_alive()
        self._loop.close()

    def plan(self, *cuts: Cut) -> None:
        """How the connections to come end."""
        self._plans.extend(cuts)

    def wait_for_connections(self, number: int) -> None:
        """Return once so many have been made."""
        with self._connected_more:
            made = self._connected_more.wait_for(lambda: self._connections >= number, PATIENCE_SECONDS)
            assert made, f"{self._connections} of {number} connections were made"

    def cut(self) -> None:
        """End every connection now; returns when they are ended."""
        self._do(self._cut())

    async def _cut(self) -> None:
        for link in list(self._links):
            link.cut()

    def _do(self, task: Coroutine[Any, Any, None]) -> None:
        asyncio.run_coroutine_threadsafe(task, self._loop).result(PATIENCE_SECONDS)

    def _run(self) -> None:
        self._loop.run_until_complete(self._serve())

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._connected, sock=self._socket)
        await self._stopping.wait()
        server.close()
        await self._cut()
        tasks = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        cut = self._plans.popleft() if self._plans else Cut()
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._server_port)
        link = _Link(writer, far_writer)
        self._links.add(link)
        with self._connected_more:
            self._connections += 1
            self._connected_more.notify_all()
        try:
            await asyncio.gather(
                self._relay(reader, far_writer, cut.sent, link),
                self._relay(far_reader, writer, cut.received, link),
            )
        finally:
            self._links.discard(link)
            link.cut()

    async def _relay(
        self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, limit: int | None, link: _Link
    ) -> None:
        """Pass bytes on until an end is reached: the side's own, or the planned one."""
        passed = 0
        with suppress(ConnectionError):
            while limit is None or passed < limit:
                chunk = await source.read(65536)
                if not chunk:
                    break
                sink.write(chunk if limit is None else chunk[: limit - passed])
                await sink.drain()
                passed += len(chunk)
            else:
                await self._end_early(sink, link)
                return
            if sink.can_write_eof():
                sink.write_eof()

    async def _end_early(self, sink: asyncio.StreamWriter, link: _Link) -> None:
        """Let what has passed arrive, then end both sides."""
        if sink is link.near:
            sink.close()
            with suppress(ConnectionError):
                await sink.wait_closed()
        link.cut()
