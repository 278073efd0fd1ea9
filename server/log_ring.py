"""The last lines of the log, in memory, and whoever watches new ones come.

Each line bears the time and the id of the request it was written for, so that an error's answer leads to its cause.
"""

import asyncio
import logging
import threading
from collections import deque
from collections.abc import AsyncGenerator
from contextlib import ExitStack, suppress
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from types import TracebackType
from typing import Final

LINES: Final = 512
MAX_LINE_CHARACTERS: Final = 4000

request_id: ContextVar[str] = ContextVar("request_id", default="-")


class LineFormatter(logging.Formatter):
    """`2026-01-31T12:00:00.123Z INFO server.edge [request id] message`, in UTC."""

    def __init__(self) -> None:
        super().__init__("%(moment)s %(levelname)s %(name)s [%(request_id)s] %(message)s")

    def format(self, record: logging.LogRecord) -> str:
        """The record with its time and the id of the request in whose context it was logged."""
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        record.moment = moment.replace("+00:00", "Z")
        record.request_id = request_id.get()
        return super().format(record)


@dataclass(eq=False, slots=True)
class _Follower:
    """One watcher: where it lives, what wakes it, whether it was woken and has not looked yet."""

    loop: asyncio.AbstractEventLoop
    fresh: asyncio.Event
    told: bool = False


class LogRing(logging.Handler):
    """Keeps the last lines and wakes those who follow them.

    Its own lock owns the lines, their number and the followers. Lines are written from any thread; followers
    live on event loops. A follower that is slow loses the oldest lines and is told how many.
    """

    def __init__(self, lines: int = LINES) -> None:
        super().__init__()
        self.setFormatter(LineFormatter())
        self._guard = threading.RLock()
        self._lines: deque[str] = deque(maxlen=lines)
        self._written = 0
        self._followers: set[_Follower] = set()
        self._closed = False

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record's lines. A record that cannot be formatted goes to `handleError`, never back to who logged it.

        As in the library's own handlers, only endless recursion passes: it ends the caller whatever is done here.
        """
        with ExitStack() as stack:
            stack.push(partial(self._report, record))
            lines = [line[:MAX_LINE_CHARACTERS] for line in self.format(record).splitlines()]
            with self._guard:
                self._lines.extend(lines)
                self._written += len(lines)
                self._wake()

    def _report(
        self,
        record: logging.LogRecord,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        if not isinstance(error, Exception) or isinstance(error, RecursionError):
            return False
        self.handleError(record)
        return True

    def close(self) -> None:
        """End every follower; later lines are kept but followed by nobody."""
        with self._guard:
            self._closed = True
            self._wake()
        super().close()

    def lines(self) -> list[str]:
        """The lines kept now, oldest first."""
        with self._guard:
            return list(self._lines)

    async def follow(self) -> AsyncGenerator[tuple[str, str], None]:
        """Pairs of event name and text: the kept lines, then new ones until the ring is closed.

        `log` is a line of the log, `note` tells of lines that were dropped.
        """
        follower = _Follower(asyncio.get_running_loop(), asyncio.Event())
        with self._guard:
            self._followers.add(follower)
            position = self._written - len(self._lines)
        try:
            while True:
                lines, dropped, closed = self._since(position, follower)
                position += dropped + len(lines)
                if dropped:
                    yield (
                        "note",
                        f"{dropped} lines were dropped here, as they came faster than they were read.",
                    )
                for line in lines:
                    yield "log", line
                if closed:
                    return
                await follower.fresh.wait()
        finally:
            with self._guard:
                self._followers.discard(follower)

    def _since(self, position: int, follower: _Follower) -> tuple[list[str], int, bool]:
        """Lines from that number on, how many of them are gone, whether the ring is closed."""
        with self._guard:
            follower.fresh.clear()
            follower.told = False
            oldest = self._written - len(self._lines)
            lines = list(islice(self._lines, max(0, position - oldest), None))
            return lines, max(0, oldest - position), self._closed

    def _wake(self) -> None:
        """Tell every follower once; a burst of lines is one wake-up."""
        for follower in self._followers:
            if not follower.told:
                follower.told = True
                # A loop that has just been closed takes no more calls, and its follower is gone with it.
                with suppress(RuntimeError):
                    follower.loop.call_soon_threadsafe(follower.fresh.set)
