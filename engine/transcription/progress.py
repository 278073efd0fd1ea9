"""How far a recording has been written down, told now and then."""

from typing import Final

from engine.control import Control
from engine.transcription.features import RATE_HZ
from engine.transcription.windows import Windows

STEP_SECONDS: Final = 10.0  # of audio, between two reports
UNTOLD_SECONDS: Final = 60.0  # of files that do not say how long they are, so much is thought to come


class Progress:
    """Owner of what was told last; `seconds` is how long the file says it is, None where it does not."""

    def __init__(self, control: Control, phase: str, windows: Windows, seconds: float | None) -> None:
        self._control = control
        self._phase = phase
        self._windows = windows
        self._seconds = seconds
        self._told = 0.0

    def tell(self) -> None:
        """Report, where there is news; and once the file's end is known that it did not tell, how long it is."""
        if self._seconds is None and self._windows.ended:
            self._seconds = self._windows.heard / RATE_HZ
            self._control.expect(self._phase, self._seconds)
        done = self._windows.reached / RATE_HZ
        if done - self._told < STEP_SECONDS:
            return
        self._told = done
        whole = done + UNTOLD_SECONDS if self._seconds is None else self._seconds
        self._control.report(self._phase, min(1.0, done / whole), seconds=int(done))
