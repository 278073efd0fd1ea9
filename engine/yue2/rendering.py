"""From codes to latents: the acoustic stage, chunk by chunk, several variations side by side."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import torch

from engine.control import Control
from engine.errors import DeviceError
from engine.yue2.chunks import Chunk, Performance, chunks_of
from engine.yue2.machine.memory import Allowance
from engine.yue2.network.flow import noise, solve
from engine.yue2.network.precision import Precision
from engine.yue2.parts import Parts
from engine.yue2.stages import ACOUSTIC


def state_dtype(wish: str, precision: Precision) -> torch.dtype:
    """The number format of the solver's state: the residual stream's with `auto`, as in the reference, or `fp32`.

    Raises DeviceError for another wish.
    """
    formats = {"auto": precision.residual, "fp32": torch.float32}
    if wish not in formats:
        raise DeviceError(f"There is no flow state {wish!r}; set it to one of: {', '.join(formats)}.")
    return formats[wish]


@dataclass(frozen=True, slots=True)
class Rendering:
    """Latents (B, T, C) of all variations of a song, and how many of them were solved together at most."""

    latents: torch.Tensor
    together: int


class Renderer:
    """Solves the acoustic stage.

    The decoder reads each chunk's tokens afresh, even where it has just drawn them one by one: so a track does not
    depend on how its codes came about, and a replay of the codes gives the same latents to the last bit. That costs
    less than one of the 64 evaluations of the flow. Where only one part may be loaded, as many chunks are read ahead
    as the cache has sequences.
    """

    def __init__(self, parts: Parts, context: int, channels: int, state: torch.dtype) -> None:
        """`context` is the longest sequence, `channels` the width C of latents, `state` the solver's number format."""
        self._parts = parts
        self._context = context
        self._channels = channels
        self._state = state

    def render(
        self,
        songs: Sequence[Performance],
        seeds: range,
        steps: int,
        allowed: Allowance,
        control: Control,
    ) -> list[Rendering]:
        """Latents of every song with every noise seed."""
        starts = [self._noise(song, seeds) for song in songs]  # (B, T, C) each
        results = [torch.empty_like(start) for start in starts]
        chunks = chunks_of(songs, self._context)
        together = min(allowed.variations, len(seeds))
        groups = [slice(first, first + together) for first in range(0, len(seeds), together)]
        told = _Progress.of(control, chunks, groups, len(seeds), steps)
        for batch in _batches(chunks, allowed.sequences if allowed.staged else 1):
            self._read(batch, told, allowed, control)
            acoustic = self._parts.acoustic(control, allowed)
            for slot, chunk in enumerate(batch):
                for group in groups:
                    here = (group, slice(chunk.frames.start, chunk.frames.stop))
                    start = starts[chunk.song][here]  # (variations, frames, C)
                    told.begin(start.shape[0] * start.shape[1])
                    results[chunk.song][here] = solve(
                        acoustic,
                        start,
                        steps,
                        slot,
                        len(chunk.tokens),
                        control.check_cancelled,
                        told.step,
                        self._state,
                    )
            del acoustic  # so that it is gone where the next batch has the decoder loaded alone
        return [Rendering(latents, together) for latents in results]

    def _noise(self, song: Performance, seeds: range) -> torch.Tensor:
        """(B, T, C), float32 on the CPU: of each seed what a song of that length has with it alone."""
        return torch.stack([noise(seed, len(song.codes), self._channels) for seed in seeds])

    def _read(self, batch: Sequence[Chunk], told: "_Progress", allowed: Allowance, control: Control) -> None:
        """Have the decoder read each chunk's tokens into the slot of its place in the batch."""
        decoder = self._parts.decoder(control, allowed, len(batch)).decoder
        if not allowed.staged:
            self._parts.acoustic(control, allowed)  # now, so that the phase is not interrupted by loading
            told.report()
        for slot, chunk in enumerate(batch):
            decoder.prefill(chunk.tokens, slot, 0, control.check_cancelled)


class _Progress:
    """Owner of the count of solver steps; tells the control of each, weighed by the rows that it moved."""

    def __init__(self, control: Control, steps: int, solutions: int, rows: int) -> None:
        """`solutions` of so many steps each move `rows` rows in all."""
        self._control = control
        self._of = steps * solutions
        self._moves = steps * rows
        self._done_steps = 0
        self._done_moves = 0
        self._begun = 0  # rows of the solution at work

    @classmethod
    def of(
        cls, control: Control, chunks: Sequence[Chunk], groups: Sequence[slice], variations: int, steps: int
    ) -> "_Progress":
        """For every chunk with every group of the variations."""
        rows = sum(len(chunk.frames) for chunk in chunks) * variations
        return cls(control, steps, len(chunks) * len(groups), rows)

    def begin(self, rows: int) -> None:
        """Another solution begins, of so many rows."""
        self._begun = rows
        self.report()

    def step(self, _: int) -> None:
        """A step is done."""
        self._done_steps += 1
        self._done_moves += self._begun
        self.report()

    def report(self) -> None:
        """Tell how far the stage is."""
        fraction = self._done_moves / self._moves
        self._control.report(ACOUSTIC, fraction, steps=self._done_steps, of=self._of)


def _batches(chunks: Sequence[Chunk], size: int) -> Iterator[Sequence[Chunk]]:
    return (chunks[first : first + size] for first in range(0, len(chunks), size))
