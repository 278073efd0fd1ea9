"""News of jobs from other threads."""

import asyncio
import threading

from server.watch import Watch


async def _next(event: asyncio.Event) -> None:
    await asyncio.wait_for(event.wait(), 2)
    event.clear()


def test_a_notice_from_another_thread_wakes_the_waiter_of_that_job_only() -> None:
    async def scene() -> tuple[bool, bool]:
        watch = Watch()
        watch.bind(asyncio.get_running_loop())
        with watch.subscribe("a") as mine, watch.subscribe("b") as other:
            threading.Thread(target=watch.notify, args=("a",)).start()
            await _next(mine)
            return mine.is_set(), other.is_set()

    assert asyncio.run(scene()) == (False, False)


def test_the_empty_id_wakes_everybody() -> None:
    async def scene() -> int:
        watch = Watch()
        watch.bind(asyncio.get_running_loop())
        with watch.subscribe("a") as one, watch.subscribe("b") as two:
            watch.notify()
            await _next(one)
            await _next(two)
        return len(watch._waiters)

    assert asyncio.run(scene()) == 0


def test_many_notices_wake_the_loop_once() -> None:
    class Loop:
        def __init__(self) -> None:
            self.calls = 0

        def call_soon_threadsafe(self, callback: object) -> None:
            self.calls += 1

    loop = Loop()
    watch = Watch()
    watch.bind(loop)  # type: ignore[arg-type]
    for n in range(100):
        watch.notify(f"job{n}")
    assert loop.calls == 1


def test_notices_without_a_loop_are_dropped() -> None:
    watch = Watch()
    watch.notify("a")
    watch.unbind()
    watch.notify("b")
    assert watch._changed == set()
