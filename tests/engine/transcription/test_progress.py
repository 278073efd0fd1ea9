"""What is told of how far a recording has been written down."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from engine.control import Uncontrolled
from engine.transcription.features import RATE_HZ
from engine.transcription.progress import Progress
from engine.transcription.windows import Windows
from tests.engine.transcription.spoken import Loudness


class Told(Uncontrolled):
    """Owner of what it was told."""

    def __init__(self) -> None:
        self.reports: list[tuple[float, int]] = []
        self.expected: list[float] = []

    def report(self, phase: str, fraction: float, **counters: int) -> None:
        self.reports.append((round(fraction, 2), counters["seconds"]))

    def expect(self, phase: str, units: float, source: str = "history") -> None:
        self.expected.append(units)


def blocks(sound: NDArray[np.float32]) -> Iterator[NDArray[np.float32]]:
    return (sound[start : start + RATE_HZ] for start in range(0, len(sound), RATE_HZ))


def listened(seconds: int, told: float | None) -> Told:
    """To silence."""
    control = Told()
    windows = Windows(blocks(np.zeros(seconds * RATE_HZ, np.float32)), Loudness())
    assert windows.next(Progress(control, "listening", windows, told).tell) is None
    return control


def test_long_silence_is_told_in_steps_of_ten_seconds() -> None:
    control = listened(35, 35.0)
    assert control.reports == [(0.29, 10), (0.57, 20), (0.86, 30)]
    assert control.expected == []


def test_a_file_that_does_not_tell_its_length_is_a_minute_longer_till_its_end_is_known() -> None:
    control = listened(20, None)
    assert control.reports == [(0.14, 10), (0.25, 20)]
    assert control.expected == [20.0]


def test_nothing_is_told_of_what_waits_to_be_written_down() -> None:
    control = Told()
    sound = np.concatenate([np.zeros(12 * RATE_HZ), np.ones(40 * RATE_HZ)]).astype(np.float32)
    windows = Windows(blocks(sound), Loudness())
    assert windows.next(Progress(control, "listening", windows, 52.0).tell) is not None
    assert [seconds for _, seconds in control.reports] == [10]
