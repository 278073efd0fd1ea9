"""The pieces of one HTTP connection: its bounds, its flow control, what a request's cycle sees of it."""

import asyncio
import fcntl
import struct
import termios
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final

from uvicorn.protocols.http.flow_control import FlowControl

from server.countdown import Countdown
from server.limits import BODY_SECONDS, SOCKET_SECONDS

# Key in a request's state under which the protocol offers to end the connection at once.
ABORT: Final = "abort_connection"

# Key in a request's state for the id of the job that was accepted for it.
ACCEPTED_JOB: Final = "accepted_job"


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds before a connection is ended; `least_rate` in bytes a second is what counts as reading.

    A body that takes longer than `slow_body` gives its connection up where there are too many.
    """

    head: float = SOCKET_SECONDS
    body_idle: float = SOCKET_SECONDS
    body_total: float = BODY_SECONDS
    write: float = SOCKET_SECONDS
    keep_alive: float = SOCKET_SECONDS
    linger: float = 2.0
    slow_body: float = 2.0
    least_rate: float = 1024.0


DEFAULT_TIMEOUTS: Final = Timeouts()


@dataclass(frozen=True, slots=True)
class Bounds:
    """What one server allows: seconds, connections at once, bytes of a body; `draw_id` names what it refuses."""

    timeouts: Timeouts
    max_connections: int
    max_body_bytes: int
    draw_id: Callable[[], str]


class Awaiting(Enum):
    """What the next byte of a connection belongs to."""

    BETWEEN = "between"
    HEAD = "head"
    BODY = "body"


class WatchedFlow(FlowControl):
    """Flow control whose countdowns stand still while nothing is read."""

    def __init__(self, transport: asyncio.Transport, *reading: Countdown) -> None:
        super().__init__(transport)
        self._reading = reading

    def pause_reading(self) -> None:
        """Stop reading."""
        super().pause_reading()
        for countdown in self._reading:
            countdown.hold()

    def resume_reading(self) -> None:
        """Read on."""
        super().resume_reading()
        for countdown in self._reading:
            countdown.go_on()


class CycleTransport(asyncio.Transport):
    """What a request's cycle sees of the connection: it writes, and asks for a close that the protocol decides on."""

    def __init__(self, transport: asyncio.Transport, finish: Callable[[], None]) -> None:
        super().__init__()
        self._transport = transport
        self._finish = finish
        self.written = 0

    def taken(self) -> int:
        """Bytes that the client's side has acknowledged; where the system does not tell, those the system has taken.

        A socket can be written to again only when a third of its buffer is free, which may be more than a megabyte:
        without this a player seems to take nothing for half a minute.
        """
        held = self._transport.get_write_buffer_size()
        opened = self._transport.get_extra_info("socket")
        with suppress(OSError):  # macOS knows this of terminals only
            held += struct.unpack("i", fcntl.ioctl(opened.fileno(), termios.TIOCOUTQ, bytes(4)))[0]
        return self.written - held

    def write(self, data: "bytes | bytearray | memoryview[Any]") -> None:
        """Write and count."""
        self.written += len(data)
        self._transport.write(data)

    def is_closing(self) -> bool:
        """Whether nothing more can be written."""
        return self._transport.is_closing()

    def close(self) -> None:
        """End the connection once everything written is out."""
        self._finish()
