"""Songs drawn in lockstep on a processor: each step computes for the songs that go on, and no more."""

from collections.abc import Callable, Sequence
from typing import Protocol

import torch

from engine.control import Check
from engine.yue2.decoding.draws import WordDraws
from engine.yue2.decoding.sampling import Rule, guided, pick
from engine.yue2.decoding.takes import Take
from engine.yue2.network.backbone import Decoder
from engine.yue2.network.places import ExactPlace

Drawn = Callable[[], list[int]]
"""Waits for the tokens of one step, one for each song: `NOT_FINITE` where the logits are not, anything once it has ended."""


class Batch(Protocol):
    """Songs drawn in lockstep. Song i stands in slot i, its negative branch in slot S + i.

    Up to `ahead` steps may be enqueued before the tokens of an earlier one are waited for.
    """

    ahead: int

    def first(self, states: torch.Tensor) -> Drawn:
        """Draw from the states (slots, hidden) after the prefixes."""

    def next(self) -> Drawn:
        """Feed what was drawn last and draw again."""


class ExactBatch:
    """A batch whose draws are there at once; owner of the songs' generators. Checks before each layer of a step."""

    ahead = 0

    def __init__(
        self, decoder: Decoder, takes: Sequence[Take], rule: Rule, guidance: float, check: Check
    ) -> None:
        self._decoder = decoder
        self._takes = takes
        self._rule = rule
        self._guidance = guidance
        self._check = check
        self._draws = [WordDraws(take.prompt.seed) for take in takes]

    def first(self, states: torch.Tensor) -> Drawn:
        """As `Batch.first`."""
        return self._draw(states[[slot for slot, _, _ in self._going()]])

    def next(self) -> Drawn:
        """As `Batch.next`."""
        going = self._going()
        place = ExactPlace(
            tuple(slot for slot, _, _ in going), tuple(take.position(negative) for _, take, negative in going)
        )
        tokens = torch.tensor([take.tokens[-1] for _, take, _ in going])  # (sequences,)
        return self._draw(self._decoder.step(tokens, place, self._check))

    def _going(self) -> list[tuple[int, Take, bool]]:
        """Slot, song and whether it is the negative branch, of all sequences that go on; negative ones last."""
        branches = (False,) if self._guidance == 1 else (False, True)
        songs = len(self._takes)
        return [
            (song + songs * negative, take, negative)
            for negative in branches
            for song, take in enumerate(self._takes)
            if not take.ended
        ]

    def _draw(self, states: torch.Tensor) -> Drawn:
        logits = self._decoder.logits(states, self._rule.rows)  # (sequences, count)
        if self._guidance != 1:
            likely, unlikely = logits.chunk(2)
            logits = guided(likely, unlikely, self._guidance)
        drawn = [self._rule.rows.end_id] * len(self._takes)
        going = [song for song, take in enumerate(self._takes) if not take.ended]
        for row, song in enumerate(going):
            drawn[song] = pick(logits[row], self._rule, self._takes[song].tokens, self._draws[song])
        return lambda: drawn
