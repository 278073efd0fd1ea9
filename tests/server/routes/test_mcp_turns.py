"""Messages that come together are read one in each pass of the event loop, and nobody is held up for longer."""

import asyncio
from pathlib import Path

import pytest

from tests.agents.wire import VERSIONS, Message, message, tool_call
from tests.clients.held import PATIENCE_SECONDS
from tests.server.routes.mcp_door import Door, whole

each_version = pytest.mark.parametrize("version", VERSIONS)
TOGETHER = 6


@pytest.fixture
def door(tmp_path: Path) -> Door:
    return Door(tmp_path)


def asked(door: Door, sent: Message, reading: asyncio.Event | None = None) -> asyncio.Task[int]:
    """The status of a message of a client that stays."""

    async def ask() -> int:
        answer = await door.ask(sent, whole(sent), asyncio.Event(), reading)
        return int(answer[0]["status"])

    return asyncio.create_task(ask())


class Passes:
    """Counts, in each pass of the loop, how many calls have reached the desk. Owner of that list."""

    def __init__(self, door: Door) -> None:
        self._door = door
        self._over = False
        self.reached: list[int] = []

    def look(self) -> None:
        """Look now, and in every pass from here on."""
        self.reached.append(len(self._door.desk.visits))
        if not self._over:
            asyncio.get_running_loop().call_soon(self.look)

    def end(self) -> list[int]:
        """Look no more; how many have come in each pass."""
        self._over = True
        return [now - before for before, now in zip(self.reached, self.reached[1:], strict=False)]


@each_version
def test_of_many_that_come_together_one_is_read_in_each_pass(door: Door, version: str) -> None:
    async def outer() -> tuple[list[int], list[int]]:
        passes = Passes(door)
        calls = [asked(door, tool_call(version, "create_song")) for _ in range(TOGETHER)]
        passes.look()
        statuses = await asyncio.gather(*calls)
        return statuses, passes.end()

    statuses, came = asyncio.run(outer())
    assert statuses == [200] * TOGETHER
    assert (sum(came), max(came)) == (TOGETHER, 1)


@each_version
def test_one_that_waits_at_the_desk_holds_up_nobody(door: Door, version: str) -> None:
    async def outer() -> list[int]:
        waiting = asked(door, tool_call(version, "job_status"))
        await asyncio.wait_for(door.desk.began.wait(), PATIENCE_SECONDS)
        quick = await asyncio.wait_for(asked(door, tool_call(version, "speak")), PATIENCE_SECONDS)
        door.desk.let_go.set()
        return [quick, await waiting]

    assert asyncio.run(outer()) == [200, 200]


@each_version
def test_one_that_reads_slowly_holds_up_nobody(door: Door, version: str) -> None:
    async def outer() -> list[int]:
        reading = asyncio.Event()
        slow = asked(door, message(version, "tools/list"), reading)
        others = [asked(door, message(version, "tools/list")) for _ in range(2)]
        quick = await asyncio.wait_for(asyncio.gather(*others), PATIENCE_SECONDS)
        assert not slow.done()
        reading.set()
        return [*quick, await slow]

    assert asyncio.run(outer()) == [200, 200, 200]


@each_version
def test_one_that_is_stopped_before_its_turn_leaves_the_turns_to_others(door: Door, version: str) -> None:
    async def outer() -> int:
        calls = [asked(door, tool_call(version, "speak")) for _ in range(3)]
        first = asyncio.Event()
        asyncio.get_running_loop().call_soon(first.set)
        await first.wait()
        calls[1].cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        return await asyncio.wait_for(asked(door, tool_call(version, "speak")), PATIENCE_SECONDS)

    assert asyncio.run(outer()) == 200
