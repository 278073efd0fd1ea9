"""A score in time performed: the singer first, then the band around the voice."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from engine.audio import Samples
from engine.control import Check, Control
from engine.score.model import TimedNote, Timeline
from engine.sketch.bus import Vocal
from engine.sketch.fourier import Mono
from engine.sketch.sampler import Sampler, sounding_seconds
from engine.sketch.singing import Singable, remark, singable
from engine.sketch.style import Style
from engine.sketch.swing import swung
from engine.sketch.voice.script import missing_scripts
from engine.sketch.voice.script import singable as is_readable
from engine.words import Word

SINGING: Final = "singing"


class Sung(Protocol):
    """What a singer gives: the dry voice at 48 kHz, and the words with their seconds."""

    @property
    def samples(self) -> NDArray[np.float32]:
        """(n,)"""

    @property
    def words(self) -> tuple[Word, ...]:
        """In order."""

    @property
    def notes(self) -> tuple[TimedNote, ...]:
        """Those of the notes that are sung."""


class Voice(Protocol):
    """A singer."""

    def sing(
        self,
        notes: Sequence[TimedNote],
        seconds: float,
        seed: int,
        check: Check = ...,
        report: Callable[[float], None] = ...,
    ) -> Sung:
        """So many seconds of the words under one voice's notes; `report` is told the share that is done."""

    def unload(self) -> None:
        """Give memory back."""


@dataclass(frozen=True, slots=True)
class Performance:
    """A song as it sounds, and what its singer did; without a singer there is no voice."""

    samples: Samples  # (N, 2) at 48 kHz
    voice: Mono | None = None  # (n,) alone and dry, at 48 kHz
    notes: tuple[TimedNote, ...] = ()  # those that are sung
    words: tuple[Word, ...] = ()
    remarks: tuple[str, ...] = ()


def perform(
    timeline: Timeline,
    style: Style,
    seed: int,
    sampler: Sampler,
    voice: Voice | None,
    control: Control,
    limit_seconds: float,
) -> Performance:
    """Sing and play at most `limit_seconds` of a score; nobody sings without a `voice`.

    Raises InvalidRequest for a timeline over 20 minutes, CorruptBank and CheckpointError.
    """
    played = swung(timeline, style.groove.swing)
    asked = Singable(()) if voice is None else singable(played, is_readable)
    vocal, words = None, tuple[Word, ...]()
    if voice is not None:
        control.report(SINGING, 0.0)
        heard = tuple(note for note in asked.notes if note.start < limit_seconds)
        if heard:
            length = sounding_seconds(played.duration, limit_seconds)
            sung = voice.sing(heard, length, seed, control.check_cancelled, partial(control.report, SINGING))
            vocal, words = Vocal(sung.samples, frozenset(sung.notes)), sung.words
        control.report(SINGING, 1.0)
    samples = sampler.render(played, style, seed, control, limit_seconds=limit_seconds, vocal=vocal)
    unread = missing_scripts(" ".join(asked.unsung))
    remarks = tuple(filter(None, [remark(asked.unsung, unread, asked.lines_played)]))
    if vocal is None:
        return Performance(samples, remarks=remarks)
    return Performance(
        samples, vocal.voice, tuple(sorted(vocal.notes, key=lambda note: note.start)), words, remarks
    )
