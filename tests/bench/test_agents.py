"""The rows of what MCP costs, against their bars."""

import socket
from collections.abc import Iterator
from typing import cast

import pytest

import bench.agents
from bench.agents import ACCEPTED, JOB, NATIVE, STATUS, call_rows, import_rows, import_seconds, unanswered
from bench.processes import Server


def samples(legacy: list[float], modern: list[float]) -> dict[str, list[float]]:
    """The same for each call; the native one takes a millisecond."""
    taken = {NATIVE: [1.0] * len(legacy), "legacy": legacy, "modern": modern}
    return {f"{call}, {way}": found for call in (STATUS, JOB, ACCEPTED) for way, found in taken.items()}


def test_what_counts_is_how_much_longer_a_call_takes_than_the_native_one() -> None:
    rows = {row.name: row for row in call_rows(samples([16.0] * 20, [17.0] * 20))}
    for call in (STATUS, JOB, ACCEPTED):
        assert not rows[f"{call}, legacy: more than native, p50"].missed
        assert rows[f"{call}, modern: more than native, p50"].missed
        assert not rows[f"{call}, modern: more than native, p95"].missed
        assert rows[f"{call}, modern, p50"].bar is None
    late = {row.name: row for row in call_rows(samples([5.0] * 18 + [42.0] * 2, [5.0] * 20))}
    assert late[f"{STATUS}, legacy: more than native, p95"].missed
    assert not late[f"{STATUS}, modern: more than native, p95"].missed


def test_the_sdks_part_of_the_start_is_what_is_held_against_the_bar() -> None:
    def missed(with_: float) -> list[bool]:
        return [row.missed for row in import_rows({"with": [9.0, with_, 0.0], "without": [1.0, 1.0, 1.0]})]

    assert missed(1.79) == [False, False, False]
    assert missed(1.81) == [False, False, True]


def test_an_import_that_fails_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bench.agents, "IMPORTED", "raise SystemExit('there is no server')")
    with pytest.raises(RuntimeError, match="there is no server"):
        import_seconds("with")


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Both ends of a connection."""
    near, far = socket.socketpair()
    with near, far:
        yield near, far


def test_who_was_answered_waits_no_more(
    monkeypatch: pytest.MonkeyPatch, pair: tuple[socket.socket, socket.socket]
) -> None:
    near, far = pair
    monkeypatch.setattr(bench.agents, "still_open", lambda server, connections: len(connections))
    server = cast(Server, None)
    assert unanswered(server, [near]) == 1
    far.sendall(b"HTTP/1.1 200 OK")
    assert unanswered(server, [near]) == 0
