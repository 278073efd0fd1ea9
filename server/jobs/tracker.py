"""Where a job is among its stages: phase, progress, time left."""

from collections.abc import Mapping
from dataclasses import replace

from server.jobs.rates import Estimate, RateBook, Stage

TELL_SHARE = 0.01
"""Progress worth telling of."""

TELL_SECONDS = 0.5
"""Time after which any report is worth telling of."""

NEARLY_DONE = 0.999
"""The most that progress says before the job is done."""

CUT = 0.99
"""Share of its budget from which a stage was cut by it, and so says nothing of how large such stages get."""

OUTGROWN = 1.25
"""How much larger than what is done a stage is taken to be once it is larger than earlier ones were."""


class StageTracker:
    """Follows one job through its stages and teaches the rates what each took.

    Owned by the lock of the job's queue. Times are monotonic seconds. Entering another phase ends the one before;
    stages skipped on the way count as done; a phase that no stage ahead names is shown, but moves nothing. A stage
    that began as a budget and whose size was told since teaches that size too; one that is still a budget when it is
    over teaches nothing, since nobody knows how much was done in its time.
    """

    def __init__(self, model: str, stages: tuple[Stage, ...]) -> None:
        self._model = model
        self._stages = list(stages)
        self._budgets = {index: stage.units for index, stage in enumerate(stages) if stage.source == "budget"}
        self._index = 0  # of the first stage that is not over
        self._planned = False  # whether that stage is the current phase
        self._entered_at = 0.0
        self._fraction = 0.0
        self._moved_at = 0.0
        self._told_at = 0.0
        self._told_share = 0.0
        self.phase = ""
        self.share = 0.0
        self.counters: dict[str, int] = {}

    def start(self, now: float) -> None:
        """The job begins; its first phase counts from here."""
        self._entered_at = self._moved_at = self._told_at = now

    def advance(
        self, rates: RateBook, phase: str, fraction: float, counters: Mapping[str, int], now: float
    ) -> bool:
        """Take in a report; whether it is worth telling the watchers."""
        entered = phase != self.phase
        if entered:
            self._enter(rates, phase, now)
        self.counters.update(counters)
        fraction = min(1.0, max(0.0, fraction))
        if fraction > self._fraction:
            self._fraction, self._moved_at = fraction, now
        self._raise_share(rates)
        return self._worth_telling(entered, now)

    def expect(self, rates: RateBook, phase: str, units: float, source: str = "history") -> None:
        """The size of the first stage of that phase that is not over is now known better; ValueError as in Stage."""
        for index in range(self._index, len(self._stages)):
            if self._stages[index].phase == phase:
                self._stages[index] = replace(self._stages[index], units=units, source=source)
                self._raise_share(rates)
                return

    def finish(self, rates: RateBook, now: float) -> None:
        """The job is done, and so is its last phase."""
        self._leave(rates, now)
        self.share = 1.0

    def remaining(self, rates: RateBook, now: float) -> Estimate:
        """The time left, never negative."""
        ahead, fraction = self._forecast(rates)
        if not self._planned:
            return rates.estimate(self._model, ahead)
        elapsed = self._moved_at - self._entered_at
        return rates.remaining(self._model, ahead, elapsed, fraction, now - self._moved_at)

    def _forecast(self, rates: RateBook) -> tuple[list[Stage], float]:
        """The stages that are not over, as large as earlier songs and this one let expect, and the first's share done."""
        ahead = self._stages[self._index :]
        sized = [rates.sized(self._model, stage) for stage in ahead]
        if not self._planned:
            return sized, 0.0
        done = self._fraction * ahead[0].units
        is_guess = sized[0] is not ahead[0] and sized[0].units > 0
        growth = max(1.0, OUTGROWN * done / sized[0].units) if is_guess else 1.0
        grown = [
            now if now is stage else replace(now, units=min(stage.units, growth * now.units))
            for stage, now in zip(ahead, sized, strict=True)
        ]
        return grown, min(1.0, done / grown[0].units) if grown[0].units > 0 else self._fraction

    def _enter(self, rates: RateBook, phase: str, now: float) -> None:
        if self.phase:
            self._leave(rates, now)
            self._entered_at = now
        self.phase = phase
        self.counters = {}
        self._fraction, self._moved_at = 0.0, now
        for index in range(self._index, len(self._stages)):
            if self._stages[index].phase == phase:
                self._index, self._planned = index, True
                return

    def _leave(self, rates: RateBook, now: float) -> None:
        if self._planned:
            stage = self._stages[self._index]
            if stage.source != "budget":
                rates.learn(self._model, self.phase, stage.units, now - self._entered_at)
                if stage.units < CUT * self._budgets.get(self._index, 0.0):
                    rates.learn_size(self._model, stage)
            self._index += 1
            self._planned = False

    def _raise_share(self, rates: RateBook) -> None:
        ahead, fraction = self._forecast(rates)
        stages = [*self._stages[: self._index], *ahead]
        share = rates.progress(self._model, stages, self._index, fraction)
        self.share = max(self.share, min(share, NEARLY_DONE))

    def _worth_telling(self, entered: bool, now: float) -> bool:
        worth = entered or self.share - self._told_share >= TELL_SHARE or now - self._told_at >= TELL_SECONDS
        if worth:
            self._told_at, self._told_share = now, self.share
        return worth
