"""First attempts that got no job."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class _Refused:
    number: int
    at: float  # monotonic seconds


class TurnedAway:
    """First attempts that got no job, for so many seconds: the latest of each look, and no more looks than `most`.

    A look is what could be told of a request: all that it sent, or as little as its head where that was all that was
    read. Owner of that memory. Lives on the event loop.
    """

    def __init__(self, monotonic: Callable[[], float], seconds: float, most: int) -> None:
        self._monotonic = monotonic
        self._seconds = seconds
        self._most = most
        self._looks: dict[str, _Refused] = {}

    def __len__(self) -> int:
        return len(self._looks)

    def note(self, look: str, number: int) -> None:
        """A first attempt that looked so got no job."""
        last = self._looks.pop(look, None)
        latest = max(number, last.number if last else 0)
        self._looks[look] = _Refused(latest, self._monotonic())
        while len(self._looks) > self._most or self._is_old(next(iter(self._looks.values()))):
            del self._looks[next(iter(self._looks))]

    def latest(self, *looks: str) -> int:
        """The number of the latest that looked like one of these; 0 where there is none."""
        found = [self._looks[look] for look in looks if look in self._looks]
        return max((refused.number for refused in found if not self._is_old(refused)), default=0)

    def _is_old(self, refused: _Refused) -> bool:
        return self._monotonic() - refused.at > self._seconds
