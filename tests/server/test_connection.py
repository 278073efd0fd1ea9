import asyncio

from server.connection import DEFAULT_TIMEOUTS, CycleTransport, WatchedFlow
from server.countdown import Countdown


class Recorder(asyncio.Transport):
    """A transport that writes down what it is asked for."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []

    def write(self, data: object) -> None:
        self.asked.append("write")

    def close(self) -> None:
        self.asked.append("close")

    def is_closing(self) -> bool:
        return "close" in self.asked

    def pause_reading(self) -> None:
        self.asked.append("pause")

    def resume_reading(self) -> None:
        self.asked.append("resume")


def test_the_defaults_are_the_promised_seconds() -> None:
    defaults = DEFAULT_TIMEOUTS
    assert (defaults.head, defaults.body_idle, defaults.write, defaults.keep_alive) == (15, 15, 15, 15)
    assert defaults.body_total == 300


def test_countdowns_stand_still_while_nothing_is_read() -> None:
    async def run() -> tuple[list[str], bool, bool]:
        transport, rung = Recorder(), asyncio.Event()
        counting = Countdown(asyncio.get_running_loop(), rung.set)
        flow = WatchedFlow(transport, counting)
        flow.pause_reading()
        counting.start(0)
        await asyncio.wait((asyncio.ensure_future(rung.wait()),), timeout=0.01)
        before = rung.is_set()
        flow.resume_reading()
        await asyncio.wait_for(rung.wait(), 5)
        return transport.asked, before, rung.is_set()

    assert asyncio.run(run()) == (["pause", "resume"], False, True)


def test_what_a_cycle_writes_is_counted_and_its_close_is_only_a_wish() -> None:
    transport, wishes = Recorder(), list[str]()
    seen = CycleTransport(transport, lambda: wishes.append("finish"))
    seen.write(b"12345")
    seen.write(memoryview(b"678"))
    seen.close()
    assert seen.written == 8
    assert not seen.is_closing()
    assert (transport.asked, wishes) == (["write", "write"], ["finish"])
