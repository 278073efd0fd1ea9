"""Who calls a tool, and whether they still wait for its answer."""

import asyncio
from dataclasses import dataclass


@dataclass(slots=True)
class Visit:
    """One call of an agent's: whose it is, by what address it came, and whether its connection has ended.

    `base_url` is the root that links begin with, without a slash at its end. `gone` is set by whoever watches the
    connection; a visit's job outlives it. The task that serves the call owns `retry_after_seconds`, which becomes
    the header of that name.
    """

    owner: str
    base_url: str
    gone: asyncio.Event
    retry_after_seconds: int | None = None
