"""Where a command has its work done: on a server, or in this process where none is named."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from server.client import Client
from server.commands.bar import Bar

Worker = TypeVar("Worker")


@dataclass(frozen=True, slots=True)
class Workplace:
    """A server's address and key; no address where there is none."""

    server: str
    key: str


@contextmanager
def at_work(
    place: Workplace, there: Callable[[Client], Worker], here: Callable[[], Worker]
) -> Iterator[tuple[Worker, Bar]]:
    """Who does the work, and the bar that shows how far it is. Raises what opening the worker raises, ClientError."""
    with Bar() as bar:
        if not place.server:
            yield here(), bar
            return
        with Client(place.server, place.key, on_wait=bar.waiting) as client:
            yield there(client), bar
