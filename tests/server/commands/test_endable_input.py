"""Input that ends where it is told to."""

import io
import os
import threading
from collections.abc import Iterator
from contextlib import closing

import pytest

from server.commands.endable_input import EndableInput


@pytest.fixture
def pipe() -> Iterator[tuple[EndableInput, int]]:
    """An input, and the descriptor that feeds it."""
    reading, writing = os.pipe()
    with closing(EndableInput(reading)) as source:
        yield source, writing
    for descriptor in (reading, writing):
        os.close(descriptor)


def lines_of(source: EndableInput) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BufferedReader(source), encoding="utf-8", errors="replace")


def test_lines_come_as_they_are_written(pipe: tuple[EndableInput, int]) -> None:
    source, feed = pipe
    lines = lines_of(source)
    os.write(feed, "Grüße\nhalf".encode())
    assert lines.readline() == "Grüße\n"
    os.write(feed, b" more\n")
    assert lines.readline() == "half more\n"


def test_the_end_of_what_is_read_is_its_end() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"last")
    os.close(writing)
    with closing(EndableInput(reading)) as source:
        assert lines_of(source).readlines() == ["last"]
    os.close(reading)


def test_whoever_waits_is_told_of_the_end(pipe: tuple[EndableInput, int]) -> None:
    source, _ = pipe
    read: list[bytes] = []
    waiting = threading.Thread(target=lambda: read.append(io.BufferedReader(source).readline()))
    waiting.start()
    source.end()
    waiting.join(10)
    assert read == [b""]


def test_it_ends_whatever_is_still_to_be_read_and_safely_twice(pipe: tuple[EndableInput, int]) -> None:
    source, feed = pipe
    os.write(feed, b"never\n")
    source.end()
    source.end()
    assert lines_of(source).readline() == ""
    source.end()  # after it was closed with its reader
    assert source.closed


def test_it_is_closed_once_whoever_closes_it(
    pipe: tuple[EndableInput, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    source, _ = pipe
    closed: list[int] = []
    close = os.close

    def closing_again(descriptor: int) -> None:
        closed.append(descriptor)
        source.close()  # as another thread does while it lets go of the reader
        close(descriptor)

    monkeypatch.setattr(os, "close", closing_again)
    source.close()
    assert len(closed) == len({*closed}) == 2
