import asyncio
import logging
import re
import threading
from collections.abc import AsyncGenerator, Iterator

import pytest

from server.log_ring import LINES, MAX_LINE_CHARACTERS, LineFormatter, LogRing, request_id


@pytest.fixture
def ring() -> Iterator[LogRing]:
    ring = LogRing(lines=4)
    yield ring
    ring.close()


@pytest.fixture
def log(ring: LogRing) -> Iterator[logging.Logger]:
    log = logging.Logger("server.test")
    log.addHandler(ring)
    yield log
    log.removeHandler(ring)


def messages(ring: LogRing) -> list[str]:
    return [line.rpartition("] ")[2] for line in ring.lines()]


async def take(lines: AsyncGenerator[tuple[str, str], None], count: int) -> list[tuple[str, str]]:
    return [await asyncio.wait_for(anext(lines), 5) for _ in range(count)]


def test_a_line_has_time_level_name_and_request() -> None:
    record = logging.makeLogRecord(
        {
            "name": "server.edge",
            "levelno": 20,
            "levelname": "INFO",
            "msg": "%s!",
            "args": ("hello",),
            "created": 0.25,
        }
    )
    token = request_id.set("abc-1")
    try:
        line = LineFormatter().format(record)
    finally:
        request_id.reset(token)
    assert line == "1970-01-01T00:00:00.250Z INFO server.edge [abc-1] hello!"
    assert "[-]" in LineFormatter().format(record)


def test_only_the_last_lines_are_kept(ring: LogRing, log: logging.Logger) -> None:
    for number in range(6):
        log.info("line %d", number)
    assert messages(ring) == ["line 2", "line 3", "line 4", "line 5"]
    assert LINES == 512


def test_a_message_of_several_lines_counts_as_several(ring: LogRing, log: logging.Logger) -> None:
    log.info("one\ntwo\nthree")
    assert messages(ring) == ["one", "two", "three"]


def test_a_line_is_not_endless(ring: LogRing, log: logging.Logger) -> None:
    log.info("x" * 2 * MAX_LINE_CHARACTERS)
    assert [len(line) for line in ring.lines()] == [MAX_LINE_CHARACTERS]


def test_a_follower_gets_what_was_and_what_comes(ring: LogRing, log: logging.Logger) -> None:
    async def run() -> list[tuple[str, str]]:
        log.info("before")
        lines = ring.follow()
        first = await take(lines, 1)
        coming = asyncio.ensure_future(take(lines, 2))
        thread = threading.Thread(target=log.info, args=("from a thread\nagain",))
        thread.start()
        later = await coming
        thread.join()
        await lines.aclose()
        return first + later

    got = asyncio.run(run())
    assert [kind for kind, _ in got] == ["log"] * 3
    assert [re.sub(r".*\] ", "", text) for _, text in got] == ["before", "from a thread", "again"]


def test_a_slow_follower_is_told_how_many_lines_it_missed(ring: LogRing, log: logging.Logger) -> None:
    async def run() -> list[tuple[str, str]]:
        lines = ring.follow()
        log.info("first")
        got = await take(lines, 1)
        for number in range(10):
            log.info("line %d", number)
        got += await take(lines, 5)
        await lines.aclose()
        return got

    got = asyncio.run(run())
    assert got[1] == ("note", "6 lines were dropped here, as they came faster than they were read.")
    assert [text[-6:] for kind, text in got[2:] if kind == "log"] == ["line 6", "line 7", "line 8", "line 9"]


def test_a_burst_of_lines_is_one_wake_up(
    ring: LogRing, log: logging.Logger, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def run() -> int:
        calls = 0
        loop = asyncio.get_running_loop()
        call_soon = loop.call_soon_threadsafe

        def counted(*arguments: object) -> asyncio.Handle:
            nonlocal calls
            calls += 1
            return call_soon(*arguments)  # type: ignore[arg-type]

        monkeypatch.setattr(loop, "call_soon_threadsafe", counted)
        lines = ring.follow()
        log.info("first")
        await take(lines, 1)
        for _ in range(100):
            log.info("more")
        await take(lines, 1)
        await lines.aclose()
        return calls

    assert asyncio.run(run()) <= 2


def test_closing_ends_every_follower(ring: LogRing, log: logging.Logger) -> None:
    async def run() -> list[str]:
        log.info("last")

        async def follow() -> list[str]:
            return [text async for _, text in ring.follow()]

        followers = [asyncio.ensure_future(follow()) for _ in range(2)]
        await asyncio.get_running_loop().run_in_executor(None, ring.close)
        return [text for lines in await asyncio.wait_for(asyncio.gather(*followers), 5) for text in lines]

    assert [text[-4:] for text in asyncio.run(run())] == ["last", "last"]


def test_a_follower_whose_loop_is_gone_does_not_hurt_those_who_log(
    ring: LogRing, log: logging.Logger
) -> None:
    loop = asyncio.new_event_loop()
    lines = ring.follow()
    log.info("first")
    loop.run_until_complete(take(lines, 1))
    loop.close()
    log.info("second")
    assert messages(ring) == ["first", "second"]


class Unprintable:
    """Something whose text cannot be had."""

    def __init__(self, error: type[BaseException]) -> None:
        self._error = error

    def __str__(self) -> str:
        raise self._error


@pytest.mark.parametrize(("message", "argument"), [("%d", "x"), ("%s", Unprintable(LookupError))])
def test_a_record_that_cannot_be_formatted_does_not_hurt_who_logs_it(
    ring: LogRing, log: logging.Logger, capsys: pytest.CaptureFixture[str], message: str, argument: object
) -> None:
    log.info(message, argument)
    log.info("next")
    assert messages(ring) == ["next"]
    told = capsys.readouterr().err
    assert "--- Logging error ---" in told
    assert ("TypeError" if argument == "x" else "LookupError") in told


def test_such_a_record_is_dropped_silently_where_logging_is_told_to(
    ring: LogRing,
    log: logging.Logger,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(logging, "raiseExceptions", False)
    log.info("%d", "x")
    assert (ring.lines(), capsys.readouterr().err) == ([], "")


@pytest.mark.parametrize("error", [KeyboardInterrupt, RecursionError])
def test_what_ends_a_program_passes(log: logging.Logger, error: type[BaseException]) -> None:
    with pytest.raises(error):
        log.info("%s", Unprintable(error))
