"""How long work takes: seconds a unit of each phase, learnt from the jobs that went before."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Self

Key = tuple[str, str]
"""A model (under the name its speed is learnt by) and one of its phases."""

SMOOTHING = 0.3
"""Weight of the newest measurement in the exponential mean."""

MAX_RATE = 1000.0
"""Seconds a unit beyond which a stored rate is taken for damage."""

LEAST_UNITS = 1.0
"""Size from which a phase teaches: what a smaller one takes is mostly its fixed cost."""

MAX_SIZE = 1e9
"""Units a lyric line, or a song, beyond which a stored size is taken for damage."""

PACE_FROM = 0.1
"""Fraction of a phase from which its own pace is trusted."""

SOURCES = ("score", "history", "budget")
"""Where the size of work is from, the surest first: what was sent (such as a score), earlier songs, the most it can be."""

PRIOR = "prior"
"""What an estimate says instead while its rates were not measured here."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A phase that a job is to pass through; `units` is its size, such as seconds of audio.

    A phase that a job enters several times stands once for each time, in order. `source` is one of SOURCES. The size
    of a `budget` stage may be known from earlier songs: it is that of `songs` songs of `lines` lyric lines each, 0 for
    songs without words. ValueError where units is not a finite number ≥ 0, or the source is another.
    """

    phase: str
    units: float
    source: str = "history"
    lines: int = 0
    songs: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.units < math.inf:
            raise ValueError(f"The size of phase {self.phase!r} must be a finite number of units from 0.")
        if self.source not in SOURCES:
            raise ValueError(f"The size of phase {self.phase!r} must be from one of {', '.join(SOURCES)}.")

    @property
    def parts(self) -> float:
        """How many lyric lines, or songs without words, it is made of."""
        return self.songs * max(self.lines, 1)


@dataclass(frozen=True, slots=True)
class Estimate:
    """Seconds of work; `measured` where every rate in it was learnt, not assumed; `size` is one of SOURCES."""

    seconds: float
    measured: bool
    size: str = "history"

    @property
    def source(self) -> str:
        """Where measured what the sizes rest on, else `prior`."""
        return self.size if self.measured else PRIOR


def total(estimates: Sequence[Estimate]) -> Estimate:
    """The sum; measured where all parts are, sized as the least sure of them. Nothing sums to no seconds, unmeasured."""
    measured = bool(estimates) and all(part.measured for part in estimates)
    size = max((part.size for part in estimates), key=SOURCES.index, default="history")
    return Estimate(sum(part.seconds for part in estimates), measured, size)


def blend(expected_seconds: float, elapsed_seconds: float, fraction: float) -> float:
    """Seconds left of a phase of which `fraction` took `elapsed_seconds`.

    The expectation counts alone at first; from a tenth on the phase's own pace weighs as much as is done.
    """
    left = 1.0 - fraction
    by_expectation = expected_seconds * left
    if fraction < PACE_FROM:
        return by_expectation
    by_pace = elapsed_seconds * left / fraction
    return by_expectation * left + by_pace * fraction


class RateBook:
    """Seconds a unit by model and phase: priors until measured, then an exponential mean of measurements.

    And likewise the units of a phase for each lyric line of a song, or for each song without words.

    One thread at a time may `learn` (the serial queue sees to it); any thread may read at any time, since learning
    replaces a mapping and never changes one. At most `limit` rates and as many sizes are kept, the least lately learnt
    go first.
    """

    def __init__(
        self,
        priors: Mapping[Key, float] = MappingProxyType({}),
        *,
        default_rate: float = 1.0,
        limit: int = 512,
    ) -> None:
        self._priors = dict(priors)
        self._default_rate = default_rate
        self._limit = limit
        self._learnt: Mapping[Key, float] = {}
        self._sizes: Mapping[Key, float] = {}

    def learn(self, model: str, phase: str, units: float, seconds: float) -> None:
        """Take in that a phase of so many units took so long; one of less than `LEAST_UNITS` teaches nothing."""
        if units >= LEAST_UNITS:
            rate = min(max(seconds, 0.0) / units, MAX_RATE)
            self._learnt = _with(self._learnt, (model, phase), rate, self._limit)

    def learn_size(self, model: str, stage: Stage) -> None:
        """Take in how large a phase was in the end."""
        if stage.units >= LEAST_UNITS and stage.parts > 0:
            size = min(stage.units / stage.parts, MAX_SIZE)
            self._sizes = _with(self._sizes, (model, _sized_phase(stage)), size, self._limit)

    def sized(self, model: str, stage: Stage) -> Stage:
        """The stage, with the size that earlier songs teach where only its budget is known, which stays the bound."""
        size = self._sizes.get((model, _sized_phase(stage))) if stage.source == "budget" else None
        if size is None:
            return stage
        return replace(stage, units=min(stage.units, size * stage.parts), source="history")

    def estimate(self, model: str, stages: Sequence[Stage]) -> Estimate:
        """The time all the stages will take."""
        return total(self._estimates(model, stages))

    def progress(self, model: str, stages: Sequence[Stage], index: int, fraction: float) -> float:
        """The share (0 to 1) of the stages' time that is over, `fraction` into stage `index`; 0 where they take none."""
        seconds = [part.seconds for part in self._estimates(model, stages)]
        whole = sum(seconds)
        if whole <= 0:
            return 0.0
        current = seconds[index] * fraction if index < len(seconds) else 0.0
        return (sum(seconds[:index]) + current) / whole

    def remaining(
        self,
        model: str,
        stages: Sequence[Stage],
        elapsed_seconds: float,
        fraction: float,
        idle_seconds: float,
    ) -> Estimate:
        """The time left of `stages`, of whose first `fraction` is done.

        `elapsed_seconds` is what that fraction took, `idle_seconds` how long ago it was reached.
        """
        first, *later = self._estimates(model, stages)
        left = max(0.0, blend(first.seconds, elapsed_seconds, fraction) - idle_seconds)
        return total([replace(first, seconds=left), *later])

    def to_json(self) -> str:
        """The learnt rates and sizes as a JSON text; priors are not stored."""
        rates = [[model, phase, rate] for (model, phase), rate in self._learnt.items()]
        sizes = [[model, phase, size] for (model, phase), size in self._sizes.items()]
        return json.dumps({"seconds_per_unit": rates, "units_per_part": sizes})

    @classmethod
    def from_json(
        cls,
        raw: str | bytes,
        priors: Mapping[Key, float] = MappingProxyType({}),
        *,
        default_rate: float = 1.0,
        limit: int = 512,
    ) -> Self:
        """A book with what `to_json` told; ValueError where the text is damaged."""
        book = cls(priors, default_rate=default_rate, limit=limit)
        document = _document(raw)
        book._learnt = _newest(_read(document, "seconds_per_unit", MAX_RATE), limit)
        if "units_per_part" in document:  # not yet in the first version
            book._sizes = _newest(_read(document, "units_per_part", MAX_SIZE), limit)
        return book

    def _estimates(self, model: str, stages: Sequence[Stage]) -> list[Estimate]:
        learnt = self._learnt
        return [self._estimate_one(learnt, model, self.sized(model, stage)) for stage in stages]

    def _estimate_one(self, learnt: Mapping[Key, float], model: str, stage: Stage) -> Estimate:
        key = (model, stage.phase)
        rate = learnt.get(key)
        if rate is None:
            prior = self._priors.get(key, self._default_rate)
            return Estimate(prior * stage.units, measured=False, size=stage.source)
        return Estimate(rate * stage.units, measured=True, size=stage.source)


def _sized_phase(stage: Stage) -> str:
    return f"{stage.phase} of a {'line' if stage.lines else 'song'}"


def _with(means: Mapping[Key, float], key: Key, value: float, limit: int) -> Mapping[Key, float]:
    """The exponential means with a new measurement, which is now the newest."""
    learnt = dict(means)
    known = learnt.pop(key, None)
    learnt[key] = value if known is None else known + SMOOTHING * (value - known)
    return _newest(learnt, limit)


def _newest(means: Mapping[Key, float], limit: int) -> Mapping[Key, float]:
    return dict(list(means.items())[max(0, len(means) - limit) :])


def _document(raw: str | bytes) -> Mapping[str, object]:
    try:
        document = json.loads(raw)
    except RecursionError as error:
        raise ValueError("The stored rates are nested too deeply.") from error
    if not isinstance(document, dict):
        raise ValueError("The stored rates are not a JSON object.")
    return document


def _read(document: Mapping[str, object], name: str, limit: float) -> dict[Key, float]:
    entries = document.get(name)
    if not isinstance(entries, list):
        raise ValueError(f"The stored rates have no list {name!r}.")
    return dict(_read_entry(entry, limit) for entry in entries)


def _read_entry(entry: object, limit: float) -> tuple[Key, float]:
    match entry:
        case [str(model), str(phase), int() | float() as number] if 0 <= number <= limit:
            return (model, phase), float(number)
        case _:
            raise ValueError("A stored rate is not a model, a phase and a number from 0 within bounds.")
