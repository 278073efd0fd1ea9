"""The eight places for synchronous calls: who holds which, and who has to leave one."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Final

from server.limits import Slots
from storage.growth import nobody


class Place:
    """One call's place, from its admission to the last byte of its answer.

    Owner of the slot, until a later attempt at the same call takes it over.
    """

    def __init__(self, held: ExitStack) -> None:
        self.job_id = ""
        self.is_lost = False
        self.on_loss: Callable[[], None] = nobody
        self._held: Final = held

    def leave(self) -> ExitStack:
        """Hand the slot over to another attempt, and tell this one."""
        self.is_lost = True
        slot = self._held.pop_all()
        self.on_loss()
        return slot

    def give_back(self) -> None:
        """Give the slot back, where it was not handed over."""
        self._held.close()


class Places:
    """Gives calls their slots. Owner of the places that are held; lives on the event loop."""

    def __init__(self, slots: Slots) -> None:
        self._slots = slots
        self._held: list[Place] = []

    def check(self) -> None:
        """Raise TooManySynchronous where no slot is free."""
        self._slots.check()

    @contextmanager
    def taken(self, retried_job: str = "") -> Iterator[Place]:
        """A place while the block lasts. Raises TooManySynchronous where none is to be had.

        A retry says of which job: where no slot is free, the earliest attempt that waits for this job leaves its own,
        since a client tries again only after it has given the attempt before up.
        """
        place = Place(self._slot(retried_job))
        self._held.append(place)
        try:
            yield place
        finally:
            self._held.remove(place)
            place.give_back()

    def _slot(self, retried_job: str) -> ExitStack:
        if retried_job and self._slots.full:
            for place in self._held:
                if place.job_id == retried_job and not place.is_lost:
                    return place.leave()
        held = ExitStack()
        held.enter_context(self._slots.slot())
        return held
