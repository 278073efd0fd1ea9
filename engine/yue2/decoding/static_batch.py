"""Songs drawn in lockstep on a device that is not waited for: static shapes, everything that changes in fixed memory.

The host enqueues steps; what they draw goes from one to the next on the device. That makes a step a captured graph.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from typing import Protocol

import torch

from engine.yue2.decoding.draws import all_exponentials
from engine.yue2.decoding.exact_batch import Drawn
from engine.yue2.decoding.sampling import NOT_FINITE, Rule
from engine.yue2.decoding.static_sampling import Past, Settings, guided, picked, scored
from engine.yue2.decoding.takes import Take
from engine.yue2.network.backbone import Decoder
from engine.yue2.network.places import BucketPlace
from engine.yue2.vocabulary import TokenRows

BUCKET = 1024
"""Positions by which the part of the cache that a step reads grows; each length is a graph of its own."""
AHEAD = 1
"""Steps that may be enqueued before the tokens of an earlier one have arrived."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What the operations of a step depend on, but for the length they read."""

    songs: int
    branches: int
    rows: TokenRows
    greedy: bool
    legacy: bool

    @classmethod
    def of(cls, songs: int, rule: Rule, guidance: float) -> "Shape":
        """The shape of a batch."""
        return cls(songs, 1 if guidance == 1 else 2, rule.rows, rule.greedy, rule.legacy)


class Steps(Protocol):
    """How steps are run."""

    def run(self, length: int, step: Callable[[], None]) -> None:
        """Run a step, the same for the same length every time."""


class PlainSteps:
    """Runs each step as it is."""

    def run(self, length: int, step: Callable[[], None]) -> None:
        """As `Steps.run`."""
        step()


class StaticBatch:
    """A batch of one shape, begun anew for each group of songs; owner of its memory and of the songs' generators.

    Songs that have ended are drawn on, unheard, behind their end.
    """

    def __init__(self, decoder: Decoder, shape: Shape) -> None:
        device = decoder.cache.device
        self.generators = [torch.Generator(device) for _ in range(shape.songs)]
        self.steps: Steps = PlainSteps()
        self.ahead = AHEAD
        self._decoder = decoder
        self._shape = shape
        self._places = torch.zeros(shape.songs, dtype=torch.int64, device=device)  # drawn last
        self._positions = torch.zeros(shape.songs * shape.branches, dtype=torch.int64, device=device)
        self._settings = Settings(device)
        self._past = Past(shape.songs, shape.rows, device)
        self._arrivals = Arrivals(shape.songs, device)
        self._reached = 0  # the highest position that the next step writes

    def begin(self, takes: Sequence[Take], rule: Rule, guidance: float) -> None:
        """Take other songs, which have the batch's shape."""
        for generator, take in zip(self.generators, takes, strict=True):
            generator.manual_seed(take.prompt.seed)
        branches = (False, True)[: self._shape.branches]
        positions = [take.position(negative) + 1 for negative in branches for take in takes]
        self._positions.copy_(torch.tensor(positions))
        self._reached = max(positions)
        self._settings.set(rule, guidance)
        self._past.begin([take.tokens for take in takes])

    def first(self, states: torch.Tensor) -> Drawn:
        """As `Batch.first`."""
        self._draw(states)
        return self._arrivals.send(self._places, self._shape.rows.first)

    def next(self) -> Drawn:
        """As `Batch.next`."""
        capacity = self._decoder.cache.capacity
        length = min((self._reached // BUCKET + 1) * BUCKET, capacity)
        self.steps.run(length, partial(self._step, length))
        self._reached = min(self._reached + 1, capacity - 1)
        return self._arrivals.send(self._places, self._shape.rows.first)

    def _step(self, length: int) -> None:
        """Feed and draw; runs wholly on the device."""
        tokens = self._places.clamp(min=0) + self._shape.rows.first  # (songs,)
        place = BucketPlace(self._positions, length)
        states = self._decoder.step(tokens.repeat(self._shape.branches), place)
        self._positions.add_(1).clamp_(max=self._decoder.cache.capacity - 1)
        self._draw(states)

    def _draw(self, states: torch.Tensor) -> None:
        logits = self._decoder.logits(states, self._shape.rows)  # (songs * branches, count)
        if self._shape.branches == 2:
            logits = guided(logits, self._settings.guidance)
        scores = scored(logits, self._shape.legacy, self._settings, self._past)
        exponentials = None
        if not self._shape.greedy:
            exponentials = all_exponentials(self.generators, self._shape.rows, scores.dtype)
        self._places.copy_(picked(logits, scores, exponentials, self._settings))
        self._past.add(self._places.clamp(min=0))


class Arrivals:
    """Drawn places on their way to the host; owner of the memory they arrive in."""

    def __init__(self, songs: int, device: torch.device) -> None:
        self._device = device
        pinned = device.type == "cuda"  # only then the host goes on while a copy is made
        self._rooms = cycle(
            [torch.zeros(songs, dtype=torch.int64, pin_memory=pinned) for _ in range(AHEAD + 1)]
        )

    def send(self, places: torch.Tensor, first: int) -> Drawn:
        """Enqueue a copy of places (S,) in a row that begins at token `first`; at most AHEAD + 1 are under way."""
        room = next(self._rooms)
        room.copy_(places, non_blocking=True)
        if self._device.type != "cuda":
            return partial(_tokens, room, first)
        new_event: Callable[[], torch.cuda.Event] = torch.cuda.Event
        event = new_event()
        event.record(torch.cuda.current_stream(self._device))
        return partial(_arrived, event, room, first)


def _arrived(event: torch.cuda.Event, room: torch.Tensor, first: int) -> list[int]:
    event.synchronize()
    return _tokens(room, first)


def _tokens(room: torch.Tensor, first: int) -> list[int]:
    return [NOT_FINITE if place == NOT_FINITE else place + first for place in room.tolist()]
