"""Which language is spoken."""

from dataclasses import dataclass
from typing import Final

from engine.control import Check
from engine.transcription.whisper import Whisper
from engine.transcription.windows import Windows

MOST_WINDOWS: Final = 3
SURE: Final = 0.7  # a language so likely needs no further window


@dataclass(frozen=True, slots=True)
class Language:
    """By code, and how likely it is; `told` where the model must be told."""

    code: str
    probability: float
    told: bool


NOBODY: Final = Language("en", 0.0, told=True)


def detect(whisper: Whisper, windows: Windows, check: Check) -> Language:
    """The language that the first windows with speech or song sound like in the mean; English, at 0, where nobody speaks.

    `check` is called before each window.
    """
    sums: dict[str, float] = {}
    count = 0
    while count < MOST_WINDOWS and (window := windows.next()) is not None:
        check()
        count += 1
        for code, probability in whisper.languages(whisper.heard(window.samples)).items():
            sums[code] = sums.get(code, 0.0) + probability
        if max(sums.values()) >= SURE * count:
            break
        windows.resume(window.stop)
    if not sums:
        return NOBODY
    likeliest = max(sums, key=lambda code: sums[code])
    return Language(likeliest, sums[likeliest] / count, told=True)
