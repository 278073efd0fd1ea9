"""uvicorn's HTTP/1.1 protocol with an end to every way a client can hold a connection without using it.

Five countdowns a connection, each ending it (by `abort`: a plain close waits for a reader that does not read):

- **head**: from accept, or from a request's first byte, to the end of its headers; data never prolongs it.
- **body idle** and **body total**: between two reads of a body, and over all of it. These and the head's stand still
  while this side has stopped reading, or has not yet said `100 Continue` to a client that waits for it.
- **write**: while the transport holds data the client does not take. What it acknowledges prolongs it.
- **idle**: between requests.

A request that is refused before its body has arrived is answered and what still comes is dropped for a moment, so
that the answer is not lost to a reset (RFC 9112, 9.6).

Where a connection is one too many, another is ended for it: one without a request, else one whose headers are still on
the way, else one whose body is slow; of those alike the one that has been so for longest. Only where each is being
answered, or sends a body at speed, the new one is.
"""

import asyncio
import logging
import secrets
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count
from typing import Any, ClassVar, Final, cast

import httptools
from uvicorn._types import ASGI3Application
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from server.connection import ABORT, DEFAULT_TIMEOUTS, Awaiting, Bounds, CycleTransport, Timeouts, WatchedFlow
from server.countdown import Countdown, Pace
from server.errors import BodyTooLarge, EdgeError, HeadersTooLarge, MalformedRequest
from server.limits import CONNECTIONS, MAX_BODY_BYTES
from server.refusal import refusal
from server.uvicorn_inside import check_uvicorn

LOG: Final = logging.getLogger("server.protocol")
MAX_HEAD_BYTES: Final = 64 * 1024
MAX_PIPELINED: Final = 16
# How often a reader is looked at within the time that it has to begin with.
LOOKS: Final = 10
DRAW_ID: Final = partial(secrets.token_hex, 8)


class GuardedProtocol(HttpToolsProtocol):
    """One connection; made by uvicorn through the class that `protocol_class` returns.

    Owner of its countdowns and of what the next byte belongs to. `_active` is the cycle that is being answered, the
    base's `cycle` the one that was read last, `_arriving` the one whose body is being read.
    """

    bounds: ClassVar[Bounds]
    # Which connection was left without a request before which; a loop's clock stands still too long to tell.
    turns: ClassVar[Iterator[int]]

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        # uvicorn's own access log has the query, which holds job ids.
        self.access_log = False
        self._awaiting = Awaiting.BETWEEN
        self._active: RequestResponseCycle | None = None
        self._arriving: RequestResponseCycle | None = None
        self._head_bytes = 0
        self._body_bytes = 0
        self._deaf = False
        self._aborted = False
        self._unasked_since = 0
        self._body_since = 0.0
        self._head = Countdown(self.loop, self._head_late)
        self._body_idle = Countdown(self.loop, self._body_late)
        self._body_total = Countdown(self.loop, self._body_late)
        self._write = Countdown(self.loop, self._look_at_writing)
        self._idle = Countdown(self.loop, self._idle_late)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Accept; where there are too many connections, at the cost of one that asks for nothing, or not at all."""
        # Every loop hands a stream server's protocol a two-way transport, whatever the signature says.
        stream = cast(asyncio.Transport, transport)
        super().connection_made(stream)
        self.flow = WatchedFlow(stream, self._head, self._body_idle, self._body_total)
        self._out = CycleTransport(stream, self._finish)
        self._unasked_since = next(self.turns)
        self._make_room()
        if not self._aborted:
            self._head.start(self.bounds.timeouts.head)

    def _make_room(self) -> None:
        """End one connection where there are too many: the most dispensable, this one where all others are in use."""
        others = [peer for peer in self.connections if isinstance(peer, GuardedProtocol) and peer is not self]
        # An aborted one is still listed until the loop has told it so.
        if sum(not peer._aborted for peer in others) >= self.bounds.max_connections:
            ranked = (
                (rank, peer._unasked_since, peer)
                for peer in others
                if (rank := peer._dispensable()) is not None
            )
            last = min(ranked, key=lambda item: item[:2], default=(0, 0, self))[2]
            last._abort("there are too many connections")

    def _dispensable(self) -> int | None:
        """How early it goes where there are too many, 0 before 1; None while it is in use."""
        if self._aborted or self.transport.get_write_buffer_size() > 0:
            return None
        if self._busy():
            return 2 if self._slow_in_its_body() else None
        # A body that still arrives after its answer is read by nobody.
        return 1 if self._awaiting is Awaiting.HEAD else 0

    def _slow_in_its_body(self) -> bool:
        """Whether all that keeps it is a body that the client takes its time with."""
        if self._arriving is None or self._arriving is not self._active or self.flow.read_paused:
            return False
        return self.loop.time() - self._body_since > self.bounds.timeouts.slow_body

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell every request of this connection, which uvicorn does for the last one only."""
        for countdown in (self._head, self._body_idle, self._body_total, self._write, self._idle):
            countdown.stop()
        self._disconnect()
        super().connection_lost(exc)

    def eof_received(self) -> None:
        """The client has ended its side, so the transport closes once everything is out; see that it gets out."""
        super().eof_received()
        self._watch_writing()

    def data_received(self, data: bytes) -> None:
        """Parse, and keep the countdowns that wait for data."""
        if self._deaf:
            return
        self._idle.stop()
        if self._awaiting is Awaiting.BODY:
            self._body_idle.start(self.bounds.timeouts.body_idle)
        elif self._awaiting is Awaiting.HEAD:
            self._head_bytes += len(data)
        elif not (self._busy() or self._head.started):
            # The first bytes of a request, or line ends, which are skipped without a word before one.
            self._head.start(self.bounds.timeouts.head)
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self._end_after(self.cycle)
        except httptools.HttpParserError:
            self._refuse(MalformedRequest())
        self._after_feeding()

    def _after_feeding(self) -> None:
        if self._deaf:
            return
        if self._awaiting is Awaiting.HEAD and self._head_bytes > MAX_HEAD_BYTES:
            self._refuse(HeadersTooLarge(MAX_HEAD_BYTES))
        elif self._awaiting is Awaiting.BODY and not self._body_total.started:
            self._body_idle.start(self.bounds.timeouts.body_idle)
            self._body_total.start(self.bounds.timeouts.body_total)

    def on_message_begin(self) -> None:
        """A request begins."""
        if self._deaf:
            return
        super().on_message_begin()
        self.scope["state"][ABORT] = self._cut_short
        self._awaiting = Awaiting.HEAD
        self._head_bytes = 0
        if not self._head.started:
            self._head.start(self.bounds.timeouts.head)

    def on_url(self, url: bytes) -> None:
        """A piece of the request line."""
        if not self._deaf:
            super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """One header, or a trailer of a chunked body, which nobody reads."""
        if not self._deaf and self._awaiting is Awaiting.HEAD:
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Serve the request, or line it up behind the one before it on this connection."""
        if self._deaf:
            return
        self._head.stop()
        self._awaiting = Awaiting.BODY
        self._body_since = self.loop.time()
        self._body_bytes = 0
        if len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > MAX_HEAD_BYTES:
            self._refuse(HeadersTooLarge(MAX_HEAD_BYTES))
        elif len(self.pipeline) >= MAX_PIPELINED:
            self._abort("too many requests were sent ahead")
        else:
            super().on_headers_complete()
            self._arriving = self.cycle
            # Its task has not run yet, so nothing was written around the count.
            self.cycle.transport = self._out

    def on_body(self, body: bytes) -> None:
        """A piece of the body."""
        if self._deaf:
            return
        self._body_bytes += len(body)
        if self._body_bytes > self.bounds.max_body_bytes:
            self._refuse(BodyTooLarge(self.bounds.max_body_bytes))
        else:
            super().on_body(body)

    def on_message_complete(self) -> None:
        """The request has arrived."""
        if self._deaf:
            return
        self._awaiting = Awaiting.BETWEEN
        self._arriving = None
        self._body_idle.stop()
        self._body_total.stop()
        super().on_message_complete()
        self._rest()

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._active = cycle
        super()._start_asgi_task(cycle, app)

    def on_response_complete(self) -> None:
        """A response is written: go on to the next request, or rest."""
        super().on_response_complete()
        self._unset_keepalive_if_required()
        self._watch_writing()
        self._rest()

    def pause_writing(self) -> None:
        """The client takes less than is written."""
        super().pause_writing()
        self._watch_writing()

    def resume_writing(self) -> None:
        """The client has caught up."""
        super().resume_writing()
        self._write.stop()

    def _busy(self) -> bool:
        return bool(self.pipeline) or (self._active is not None and not self._active.response_complete)

    def _rest(self) -> None:
        """Count idle time once all that was asked is answered and all that was sent is read."""
        self._unasked_since = next(self.turns)
        quiet = self._awaiting is Awaiting.BETWEEN and not self._busy()
        if quiet and not self._deaf and not self.transport.is_closing():
            self._idle.start(self.bounds.timeouts.keep_alive)

    def _watch_writing(self) -> None:
        if not self._write.started and self.transport.get_write_buffer_size():
            timeouts = self.bounds.timeouts
            self._pace = Pace(timeouts.write, timeouts.least_rate, self.loop.time())
            self._look_at_writing()

    def _look_at_writing(self) -> None:
        if self.transport.get_write_buffer_size():
            if self._pace.is_kept(self._out.taken(), self.loop.time()):
                self._write.start(self.bounds.timeouts.write / LOOKS)
            else:
                self._abort("the client reads no more")

    def _head_late(self) -> None:
        if self._deaf and self.transport.get_write_buffer_size():
            self._head.start(self.bounds.timeouts.linger)
        elif self._busy() and not self._deaf:
            self._end_after(self._active)
        else:
            self._abort("the request's headers took too long")

    def _body_late(self) -> None:
        arriving = self._arriving
        if arriving is not None and arriving.waiting_for_100_continue:
            self._body_idle.start(self.bounds.timeouts.body_idle)
            self._body_total.start(self.bounds.timeouts.body_total)
        elif arriving is not self._active and self._busy():
            self._end_after(self._active)
        else:
            self._abort("the request's body took too long")

    def _idle_late(self) -> None:
        self.transport.close()
        self._watch_writing()

    def _open_cycles(self) -> list[RequestResponseCycle]:
        started = [] if self._active is None else [self._active]
        return [
            cycle
            for cycle in (*started, *(cycle for cycle, _ in self.pipeline))
            if not cycle.response_complete
        ]

    def _disconnect(self) -> None:
        """Let every request see that its client is gone, those that wait to write too."""
        for cycle in self._open_cycles():
            cycle.disconnected = True
            cycle.message_event.set()
        self.flow.resume_writing()

    def _cut_short(self) -> None:
        """End a response that cannot be completed; for the application, through the request's state."""
        self._abort("its response was cut short")

    def _abort(self, reason: str) -> None:
        LOG.debug("A connection was ended: %s.", reason)
        self._deaf = self._aborted = True
        self._disconnect()
        self.transport.abort()

    def _finish(self) -> None:
        """Close after the response that was the last one."""
        if self._awaiting is Awaiting.BETWEEN and not self._deaf:
            self.transport.close()
            self._watch_writing()
        elif not self.transport.is_closing():
            self._linger()

    def _linger(self) -> None:
        """End our side and drop what the client still sends, until it ends its side or a moment has passed."""
        self._deaf = True
        for countdown in (self._body_idle, self._body_total, self._idle):
            countdown.stop()
        self.flow.resume_reading()
        if self.transport.can_write_eof():
            self.transport.write_eof()
        self._head.start(self.bounds.timeouts.linger)
        self._watch_writing()

    def _end_after(self, last: RequestResponseCycle | None) -> None:
        """Read no more; end the connection after the response of `last`, or now where it is written already."""
        self._deaf = True
        for countdown in (self._head, self._body_idle, self._body_total):
            countdown.stop()
        if last is None or last.response_complete:
            self._finish()
            return
        last.keep_alive = False
        if last is self._active:
            self.pipeline.clear()

    def _refuse(self, error: EdgeError) -> None:
        """Answer a request that cannot be served, unless an earlier response is still being written."""
        if self._deaf:
            return
        arriving = self._arriving
        if arriving is None or arriving is not self._active:
            if self._busy():
                self._end_after(self._active)
                return
        elif arriving.response_started:
            if arriving.response_complete:
                self._linger()
            else:
                self._abort("its request went wrong while it was answered")
            return
        self._disconnect()
        # The edge has named the request already where it reads the body.
        named = "" if arriving is None else str(arriving.scope["state"].get("request_id", ""))
        target = b"/" if self._awaiting is Awaiting.BETWEEN else self.url
        id = named or self.bounds.draw_id()
        self._out.write(refusal(error, id, self.server_state.default_headers, target))
        self._linger()


def protocol_class(
    timeouts: Timeouts = DEFAULT_TIMEOUTS,
    max_connections: int = CONNECTIONS,
    max_body_bytes: int = MAX_BODY_BYTES,
    draw_id: Callable[[], str] = DRAW_ID,
) -> type[GuardedProtocol]:
    """The class to hand to `uvicorn.Config(http=…)`. Raises RuntimeError where uvicorn is another than expected."""
    check_uvicorn()

    class BoundProtocol(GuardedProtocol):
        bounds = Bounds(timeouts, max_connections, max_body_bytes, draw_id)
        turns = count()

    return BoundProtocol
