"""What may be sung: loud, but no speech to the ears of the detector, which knows no slow lines over a band.

A stretch that is mostly such is handed to Whisper as a whole. Whisper makes words up where there are none ("Thank you."
over a guitar), but says itself that there is likely no speech, doubts them, or goes in circles; and so the limits are
those by which it is told from silence anywhere. Words are kept only where two attempts, one greedy and one that searches,
are both believable; there is no drawing, which makes words up.

Measured with the packaged model on songs that no limit was chosen by (14 genres, two each with and without a singer):
nothing was written of those without; of the 8 of their windows that pass the other two limits, the probability of no
speech was 0.67 and more. Of 47 windows with a singer 41 were kept: no speech 0.51 and less, mean log probability -0.7 and
above, compression 1.4 and below; in one of the other six the model went in circles.
"""

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.control import Check
from engine.transcription.decoding import (
    LEAST_LOG_PROBABILITY,
    MOST_COMPRESSION,
    MOST_NO_SPEECH,
    Decoded,
    measured,
)
from engine.transcription.features import RATE_HZ
from engine.transcription.loudness import FLOOR, levels
from engine.transcription.spans import FRAME_SAMPLES, Span
from engine.transcription.whisper import Encoded, Whisper
from engine.words import Word

MOST_SPOKEN: Final = 0.6  # of the loud time; a reader amid noise or music has 0.7 and more, singers 0 to 0.6
LEAST_LOUD_SECONDS: Final = 2.0
RANGE: Final = 10 ** (-15 / 20)  # what is so far below the loud parts is noise behind them
MOST_OUTSIDE: Final = 0.2  # of the words of a speaker


def maybe_sung(samples: NDArray[np.float32], speech: Iterable[Span]) -> bool:
    """Whether too little of what is loud in samples (N,) at 16 kHz is speech; spans count from their start."""
    level = levels(samples)
    if not len(level):
        return False
    loud = level > max(FLOOR, float(np.percentile(level, 95)) * RANGE)
    spoken = np.zeros(len(level), np.bool_)
    for span in speech:
        spoken[max(0, span.start) // FRAME_SAMPLES : -(-span.stop // FRAME_SAMPLES)] = True
    if loud.sum() * FRAME_SAMPLES < LEAST_LOUD_SECONDS * RATE_HZ:
        return False
    return bool((loud & spoken).sum() < MOST_SPOKEN * loud.sum())


def believable(decoded: Decoded) -> bool:
    """Whether words that were found where perhaps nobody sings were not made up."""
    return (
        decoded.attempt.average_log_probability >= LEAST_LOG_PROBABILITY
        and decoded.attempt.no_speech_probability <= MOST_NO_SPEECH
        and decoded.compression_ratio <= MOST_COMPRESSION
    )


def decode_sung(
    whisper: Whisper, encoded: Encoded, prompts: Sequence[list[int]], temperature: float, check: Check
) -> Decoded | None:
    """What is sung, None where nothing is; `check` before each attempt.

    `prompts` are the one without the text before, which must not be sung on by a lone guitar, and the one with it.
    """
    check()
    if not believable(measured(whisper, whisper.attempt(encoded, prompts[0], 0.0, beam=1))):
        return None
    for prompt in reversed(prompts):
        check()
        found = measured(whisper, whisper.attempt(encoded, prompt, temperature))
        if believable(found):
            return found
    return None


def is_spoken(words: Sequence[Word], speech: Sequence[Span]) -> bool:
    """Whether nearly all words lie in the speech that was detected: somebody speaks amid music or noise."""
    outside = sum(
        all(min(word.end, span.stop / RATE_HZ) < max(word.start, span.start / RATE_HZ) for span in speech)
        for word in words
    )
    return bool(speech) and outside <= MOST_OUTSIDE * len(words)
