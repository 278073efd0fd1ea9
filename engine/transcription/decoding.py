"""The best text for one window: searched for, and drawn ever more freely where the search has gone astray.

The limits are those of `whisper/transcribe.py` of openai-whisper (MIT).
"""

from dataclasses import dataclass
from typing import Final

from engine.control import Check
from engine.transcription.repetition import compression_ratio, without_loops
from engine.transcription.whisper import Attempt, Encoded, Whisper

MOST_COMPRESSION: Final = 2.4
LEAST_LOG_PROBABILITY: Final = -1.0
MOST_NO_SPEECH: Final = 0.6
STEP: Final = 0.2
MOST_ATTEMPTS: Final = 4  # at one window, whose cost is so bounded
_NO_REPEAT: Final = 5  # tokens; of an attempt after one that went in circles


@dataclass(frozen=True, slots=True)
class Decoded:
    """The attempt that was kept; without tokens where nobody speaks."""

    attempt: Attempt
    tokens: tuple[int, ...]
    compression_ratio: float


def temperatures(first: float) -> tuple[float, ...]:
    """From the first to 1, in steps of 0.2."""
    count = int((1 - first) / STEP + 1e-6) + 1
    return tuple(round(first + STEP * place, 3) for place in range(count))


def decode(
    whisper: Whisper, encoded: Encoded, prompt: list[int], temperature: float, check: Check
) -> Decoded:
    """The first attempt that is neither unlikely nor in circles, else the likeliest; `check` before each.

    At most four are made, and none after two in circles or one that is less likely than the one before: drawn more
    freely, the next would be less likely still, and each takes as long as the first.
    """
    tried: list[Decoded] = []
    for degree in temperatures(temperature)[:MOST_ATTEMPTS]:
        check()
        circling = bool(tried) and tried[-1].compression_ratio > MOST_COMPRESSION
        attempt = whisper.attempt(encoded, prompt, degree, _NO_REPEAT if circling else 0)
        tried.append(measured(whisper, attempt))
        if _silent(attempt):
            return Decoded(attempt, (), 0.0)
        if _good(tried[-1]):
            return tried[-1]
        if _hopeless(tried):
            break
    straight = [each for each in tried if each.compression_ratio <= MOST_COMPRESSION]
    best = max(straight or tried, key=lambda each: each.attempt.average_log_probability)
    return best if straight else _unlooped(whisper, best)


def measured(whisper: Whisper, attempt: Attempt) -> Decoded:
    """An attempt, and how much its text repeats itself."""
    return Decoded(attempt, attempt.tokens, compression_ratio(whisper.text.text(attempt.tokens).strip()))


def _silent(attempt: Attempt) -> bool:
    return (
        attempt.no_speech_probability > MOST_NO_SPEECH
        and attempt.average_log_probability < LEAST_LOG_PROBABILITY
    )


def _good(decoded: Decoded) -> bool:
    return (
        decoded.compression_ratio <= MOST_COMPRESSION
        and decoded.attempt.average_log_probability >= LEAST_LOG_PROBABILITY
    )


def _hopeless(tried: list[Decoded]) -> bool:
    """Whether the last attempt goes in circles like the one before it, or is no likelier."""
    if len(tried) < 2:
        return False
    before, last = tried[-2:]
    if before.compression_ratio > MOST_COMPRESSION:
        return last.compression_ratio > MOST_COMPRESSION
    return last.attempt.average_log_probability <= before.attempt.average_log_probability


def _unlooped(whisper: Whisper, decoded: Decoded) -> Decoded:
    kept = tuple(without_loops(decoded.tokens))
    return Decoded(decoded.attempt, kept, compression_ratio(whisper.text.text(kept).strip()))
