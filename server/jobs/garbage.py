"""Cyclic garbage, collected between jobs without holding every thread up for long."""

import gc
import time
from collections.abc import Callable
from typing import Final

LONGEST_SECONDS: Final = 0.005


class Garbage:
    """Owns what the collector passes over, beside what the start has frozen; the worker's alone.

    A collection looks at everything there is, and no other thread runs meanwhile: 70 ms and more once a model holds
    dictionaries of hundreds of thousands of entries. So what outlives a collection that took long is set aside, until
    models are unloaded.
    """

    def __init__(self, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._monotonic = monotonic

    def collect(self) -> None:
        """Free what only refers to itself; where that takes long, the next time passes over what is left now."""
        started = self._monotonic()
        gc.collect()
        if self._monotonic() - started > LONGEST_SECONDS:
            gc.freeze()

    def collect_all(self) -> None:
        """As `collect`, but of everything again: models have been unloaded."""
        gc.unfreeze()
        self.collect()
