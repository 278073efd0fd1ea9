"""The proxy passes on what it is to pass on, and ends a connection where it is asked to."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import pytest

from tests.clients.cutting_proxy import Cut, CuttingProxy
from tests.server.live import read_to_end

pytestmark = pytest.mark.runtime
ANSWER = bytes(range(256)) * 1000


@contextmanager
def answering() -> Iterator[int]:
    """A server of one connection that reads six bytes and answers; its port."""
    listening = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        taken, _ = listening.accept()
        with taken, suppress(ConnectionError):
            if len(taken.recv(6, socket.MSG_WAITALL)) == 6:
                taken.sendall(ANSWER)

    thread = threading.Thread(target=answer)
    thread.start()
    try:
        yield listening.getsockname()[1]
    finally:
        thread.join(10)
        listening.close()


@pytest.mark.parametrize("received", [None, 1, 70_000])
def test_an_answer_passes_as_far_as_planned(received: int | None) -> None:
    with answering() as port, CuttingProxy(port) as proxy:
        proxy.plan(Cut(received=received))
        with socket.create_connection(("127.0.0.1", proxy.port), 10) as client:
            client.sendall(b"answer")
            assert read_to_end(client) == ANSWER[:received]


def test_a_request_passes_as_far_as_planned() -> None:
    with answering() as port, CuttingProxy(port) as proxy:
        proxy.plan(Cut(sent=5))
        with socket.create_connection(("127.0.0.1", proxy.port), 10) as client:
            client.sendall(b"answer")
            assert read_to_end(client) == b""


def test_all_connections_are_cut() -> None:
    with (
        answering() as port,
        CuttingProxy(port) as proxy,
        socket.create_connection(("127.0.0.1", proxy.port), 10) as client,
    ):
        client.sendall(b"ans")
        proxy.wait_for_connections(1)
        proxy.cut()
        assert read_to_end(client) == b""
