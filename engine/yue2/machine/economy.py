"""What one job does at once, and how it goes on with less where memory runs out."""

from collections.abc import Callable
from typing import TypeVar

from engine.errors import OutOfMemory
from engine.yue2.machine.memory import Allowance

T = TypeVar("T")

NOTE = "Memory ran out, so this was made in smaller steps: one part of the model loaded at a time, one song at once."
_SIGNS = (  # in the messages of RuntimeError with which torch and its libraries say that there is no memory
    "can't allocate memory",
    "not enough memory",
    "out of memory",
    "alloc_failed",
)


class Economy:
    """Owner of a job's allowance, which shrinks once; the next job begins with the full one again.

    `positions` is the longest sequence of the job, `release` gives all memory of the model back.
    """

    def __init__(self, allowance: Allowance, positions: int, release: Callable[[], None]) -> None:
        self.allowance = allowance
        self._positions = positions
        self._release = release
        self._is_reduced = False

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence for whoever asked, where memory ran out."""
        return (NOTE,) if self._is_reduced else ()

    def run(self, stage: Callable[[Allowance], T]) -> T:
        """What the stage gives; it is begun anew with less at once where memory runs out for the first time.

        Raises OutOfMemory where that does not help, and whatever else the stage raises.
        """
        if not self._is_reduced:
            if made := self._tried(stage):
                return made[0]
            self._is_reduced = True
            self.allowance = self.allowance.reduced(self._positions)
            self._release()
        if made := self._tried(stage):
            return made[0]
        self._release()
        raise OutOfMemory(
            "Even one song with one part of the model loaded needs more memory than there is; ask for a shorter "
            "one, close other programs, or choose another device or a smaller precision."
        )

    def _tried(self, stage: Callable[[Allowance], T]) -> tuple[T, ...]:
        """What the stage gives, as a tuple of one; none where memory ran out.

        So whoever asks releases behind the handler, where neither the error nor its frames hold tensors any more.
        """
        try:
            return (stage(self.allowance),)
        except (MemoryError, RuntimeError, OutOfMemory) as error:
            if not ran_out(error):
                raise
        return ()


def ran_out(error: Exception) -> bool:
    """Whether an error says that there is no memory left; torch has more than one way to say it."""
    if isinstance(error, (MemoryError, OutOfMemory)):
        return True
    return any(sign in str(error).lower() for sign in _SIGNS)
