"""When the bars of a score sound, repeats played out, and whether that is within bounds."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil

from engine.errors import ScoreError
from engine.score.model import Score
from engine.score.place import LONGEST_SECONDS, MAX_BEATS
from engine.score.repeats import Played, bar_lengths, fault_in_bar
from engine.score.states import meters_along, tempos_along

_COMPOUND = (6, 9, 12, 15)


@dataclass(slots=True)
class Clock:
    """Musical time (whole notes) to seconds along the bars as played; filled by `clock_of`, then only read."""

    lengths: list[Fraction] = field(default_factory=list)  # whole notes
    seconds: list[float] = field(default_factory=list)
    tempos: list[float] = field(default_factory=list)
    meters: list[tuple[int, int]] = field(default_factory=list)

    @property
    def duration(self) -> float:
        """Seconds from the first bar to the end of the last one."""
        return self.end(len(self.seconds) - 1) if self.seconds else 0.0

    def at(self, bar: int, offset: Fraction) -> float:
        """Seconds from the start; `offset` is in whole notes from the start of the bar."""
        return self.seconds[bar] + float(offset * 240) / self.tempos[bar]

    def end(self, bar: int) -> float:
        """When the bar ends: the instant at which the next one starts."""
        return self.seconds[bar + 1] if bar + 1 < len(self.seconds) else self.at(bar, self.lengths[bar])

    def beats_in(self, bar: int) -> int:
        """How many beats begin in the bar."""
        return ceil((self.lengths[bar] - self._shift(bar)) / beat_of(self.meters[bar]))

    def beats(self, bar: int) -> list[float]:
        """The instants of the beats of a bar; a short first bar counts them back from its end."""
        beat, shift = beat_of(self.meters[bar]), self._shift(bar)
        return [self.at(bar, shift + beat * turn) for turn in range(self.beats_in(bar))]

    def _shift(self, bar: int) -> Fraction:
        length = self.lengths[bar]
        short = bar == 0 and length < Fraction(*self.meters[bar])
        return length % beat_of(self.meters[bar]) if short else Fraction(0)


def clock_of(score: Score, order: Sequence[Played]) -> Clock:
    """The clock of a score whose bars are played in an order.

    Bars share their start in all voices and last as long as their longest voice. Raises ScoreError where the score
    sounds for more than `LONGEST_SECONDS` or has more than `MAX_BEATS` beats.
    """
    lengths, tempos, meters = bar_lengths(score), tempos_along(score), meters_along(score)
    clock = Clock()
    position, anchor, anchor_seconds, before = Fraction(0), Fraction(0), 0.0, score.tempo_bpm
    for played in order:
        tempo = tempos[played.index]
        if tempo != before:
            anchor_seconds += float((position - anchor) * 240) / before
            anchor, before = position, tempo
        clock.lengths.append(lengths[played.index])
        clock.seconds.append(anchor_seconds + float((position - anchor) * 240) / tempo)
        clock.tempos.append(tempo)
        clock.meters.append(meters[played.index])
        position += lengths[played.index]
    _check_bounds(score, order, clock)
    return clock


def _check_bounds(score: Score, order: Sequence[Played], clock: Clock) -> None:
    if clock.duration > LONGEST_SECONDS:
        late = next(bar for bar in range(len(order)) if clock.end(bar) > LONGEST_SECONDS)
        raise fault_in_bar(
            score.voices,
            order[late].index,
            f"The score lasts {_minutes(clock.duration)}, repeats counted; shorten it to {_minutes(LONGEST_SECONDS)}.",
        )
    beats = sum(clock.beats_in(bar) for bar in range(len(order)))
    if beats > MAX_BEATS:
        raise ScoreError(
            f"The score has {beats} beats; shorten it to {MAX_BEATS} or choose a meter with longer ones.",
            1,
            1,
        )


def _minutes(seconds: float) -> str:
    minutes, rest = divmod(ceil(seconds), 60)
    return f"{minutes} min {rest} s" if rest else f"{minutes} min"


def beat_of(meter: tuple[int, int]) -> Fraction:
    """The beat of a meter as a fraction of a whole note."""
    top, bottom = meter
    return Fraction(3 if top in _COMPOUND and bottom >= 8 else 1, bottom)
