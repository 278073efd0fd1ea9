"""Who calls a tool, and whether they still wait for its answer."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from storage.growth import nobody


@dataclass(slots=True)
class Visit:
    """One call of an agent's: whose it is, by what address it came, and whether its connection has ended.

    `base_url` is the root that links begin with, without a slash at its end. `gone` is set by whoever watches the
    connection; a visit's job outlives it. The task that serves the call owns `retry_after_seconds`, which becomes
    the header of that name. `let_others` is called where the desk is reached, which may wait for long: other messages
    may then be read. It may be called again.
    """

    owner: str
    base_url: str
    gone: asyncio.Event
    let_others: Callable[[], object] = nobody
    retry_after_seconds: int | None = None
