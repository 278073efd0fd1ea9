import threading

import anyio
import pytest

from server.errors import (
    TooMany,
    TooManyDownloads,
    TooManyStreams,
    TooManySynchronous,
    TooManyUploads,
)
from server.limits import Limits, Slots


def test_places_are_those_promised() -> None:
    limits = Limits()
    slots = (limits.synchronous, limits.downloads, limits.uploads, limits.log_streams)
    assert limits.workers_total == 20
    assert [slot.total for slot in slots] == [8, 4, 2, 2]


@pytest.mark.parametrize(
    ("name", "refusal"),
    [
        ("synchronous", TooManySynchronous),
        ("downloads", TooManyDownloads),
        ("uploads", TooManyUploads),
        ("log_streams", TooManyStreams),
        ("event_streams", TooManyStreams),
        ("waits", TooManyStreams),
        ("followers", TooManyStreams),
    ],
)
def test_one_too_many_is_refused_at_once_and_none_is_lost(name: str, refusal: type[TooMany]) -> None:
    slots: Slots = getattr(Limits(), name)
    held = [slots.slot() for _ in range(slots.total)]
    for slot in held:
        slot.__enter__()
    with pytest.raises(refusal, match=f"All {slots.total} places"), slots.slot():
        pass
    with pytest.raises(refusal):
        slots.check()
    assert slots.held == slots.total
    held[0].__exit__(None, None, None)
    with slots.slot():
        assert slots.held == slots.total
    for slot in held[1:]:
        slot.__exit__(None, None, None)
    slots.check()
    assert slots.held == 0


def test_a_place_is_given_back_when_the_work_fails() -> None:
    slots = Slots(1, "things", TooManyUploads)
    with pytest.raises(ValueError, match="broken"), slots.slot():
        raise ValueError("broken")
    assert slots.held == 0


def test_blocking_calls_run_beside_the_loop_and_no_more_than_allowed() -> None:
    limits = Limits(workers=3, reserved=1)
    running, most, lock = 0, 0, threading.Lock()
    both = threading.Barrier(2)

    def call() -> str:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        both.wait(5)
        with lock:
            running -= 1
        return threading.current_thread().name

    async def run() -> list[str]:
        names: list[str] = []

        async def one() -> None:
            names.append(await limits.run(call))

        async with anyio.create_task_group() as group:
            for _ in range(6):
                group.start_soon(one)
        return names

    names = anyio.run(run)
    assert len(names) == 6
    assert threading.current_thread().name not in names
    assert most == 2


def test_cancelling_finds_a_worker_while_all_others_are_busy() -> None:
    limits = Limits()
    let_go, busy = threading.Event(), threading.Semaphore(0)

    def hold() -> None:
        busy.release()
        let_go.wait(5)

    async def run() -> str:
        async with anyio.create_task_group() as group:
            for _ in range(limits.workers_total):
                group.start_soon(limits.run, hold)
            await limits.run_reserved(lambda: [busy.acquire(timeout=5) for _ in range(16)])
            done = await limits.run_reserved(lambda: "cancelled")
            let_go.set()
        return done

    assert anyio.run(run) == "cancelled"


def test_those_who_wait_to_be_checked_are_few_and_take_turns() -> None:
    limits = Limits()
    most, now = 0, 0

    async def check(go_on: anyio.Event) -> None:
        nonlocal most, now
        async with limits.preparing():
            now += 1
            most = max(most, now)
            await go_on.wait()
            now -= 1

    async def run() -> int:
        go_on = anyio.Event()
        async with anyio.create_task_group() as group:
            for _ in range(limits.preparations.total):
                group.start_soon(check, go_on)
            await anyio.wait_all_tasks_blocked()
            with pytest.raises(TooManyStreams):
                async with limits.preparing():
                    pass
            go_on.set()
        return limits.preparations.held

    assert anyio.run(run) == 0
    assert most == 2
