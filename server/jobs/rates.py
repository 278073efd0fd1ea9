"""How long work takes: seconds a unit of each phase, learnt from the jobs that went before."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Self

Key = tuple[str, str]
"""A model and one of its phases."""

SMOOTHING = 0.3
"""Weight of the newest measurement in the exponential mean."""

MAX_RATE = 1000.0
"""Seconds a unit beyond which a stored rate is taken for damage."""

LEAST_UNITS = 1.0
"""Size from which a phase teaches: what a smaller one takes is mostly its fixed cost."""

PACE_FROM = 0.1
"""Fraction of a phase from which its own pace is trusted."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A phase that a job is to pass through; `units` is its size, such as seconds of audio.

    A phase that a job enters several times stands once for each time, in order. ValueError where units is not a
    finite number ≥ 0.
    """

    phase: str
    units: float

    def __post_init__(self) -> None:
        if not 0 <= self.units < math.inf:
            raise ValueError(f"The size of phase {self.phase!r} must be a finite number of units from 0.")


@dataclass(frozen=True, slots=True)
class Estimate:
    """Seconds of work; `measured` where every rate in it was learnt, not assumed."""

    seconds: float
    measured: bool

    @property
    def source(self) -> str:
        """`history` where measured, else `prior`."""
        return "history" if self.measured else "prior"


def total(estimates: Sequence[Estimate]) -> Estimate:
    """The sum; measured where all parts are. Nothing sums to no seconds, unmeasured."""
    measured = bool(estimates) and all(part.measured for part in estimates)
    return Estimate(sum(part.seconds for part in estimates), measured)


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

    One thread at a time may `learn` (the serial queue sees to it); any thread may read at any time, since learning
    replaces the mapping and never changes one. At most `limit` rates are kept, the least lately learnt go first.
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

    def learn(self, model: str, phase: str, units: float, seconds: float) -> None:
        """Take in that a phase of so many units took so long; one of less than `LEAST_UNITS` teaches nothing."""
        if units < LEAST_UNITS:
            return
        rate = min(max(seconds, 0.0) / units, MAX_RATE)
        learnt = dict(self._learnt)
        known = learnt.pop((model, phase), None)
        learnt[model, phase] = rate if known is None else known + SMOOTHING * (rate - known)
        self._learnt = _newest(learnt, self._limit)

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
        return total([Estimate(left, first.measured), *later])

    def to_json(self) -> str:
        """The learnt rates as a JSON text; priors are not stored."""
        rates = [[model, phase, rate] for (model, phase), rate in self._learnt.items()]
        return json.dumps({"seconds_per_unit": rates})

    @classmethod
    def from_json(
        cls,
        raw: str | bytes,
        priors: Mapping[Key, float] = MappingProxyType({}),
        *,
        default_rate: float = 1.0,
        limit: int = 512,
    ) -> Self:
        """A book with the rates of `to_json`; ValueError where the text is damaged."""
        book = cls(priors, default_rate=default_rate, limit=limit)
        book._learnt = _newest(_read(raw), limit)
        return book

    def _estimates(self, model: str, stages: Sequence[Stage]) -> list[Estimate]:
        learnt = self._learnt
        return [self._estimate_one(learnt, (model, stage.phase), stage.units) for stage in stages]

    def _estimate_one(self, learnt: Mapping[Key, float], key: Key, units: float) -> Estimate:
        rate = learnt.get(key)
        if rate is None:
            return Estimate(self._priors.get(key, self._default_rate) * units, measured=False)
        return Estimate(rate * units, measured=True)


def _newest(rates: Mapping[Key, float], limit: int) -> Mapping[Key, float]:
    return dict(list(rates.items())[max(0, len(rates) - limit) :])


def _read(raw: str | bytes) -> dict[Key, float]:
    try:
        document = json.loads(raw)
    except RecursionError as error:
        raise ValueError("The stored rates are nested too deeply.") from error
    entries = document.get("seconds_per_unit") if isinstance(document, dict) else None
    if not isinstance(entries, list):
        raise ValueError("The stored rates are not a JSON object with a list of rates.")
    return dict(_read_entry(entry) for entry in entries)


def _read_entry(entry: object) -> tuple[Key, float]:
    match entry:
        case [str(model), str(phase), int() | float() as rate] if 0 <= rate <= MAX_RATE:
            return (model, phase), float(rate)
        case _:
            raise ValueError("A stored rate is not a model, a phase and a number of seconds from 0.")
