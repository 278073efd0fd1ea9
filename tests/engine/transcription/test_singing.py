"""What may be sung, and whether it was."""

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.control import unchecked
from engine.transcription.decoding import Decoded
from engine.transcription.features import RATE_HZ
from engine.transcription.singing import believable, decode_sung, is_spoken, maybe_sung
from engine.transcription.spans import Span
from engine.transcription.tokens import TokenText
from engine.transcription.whisper import BEAM, Attempt, Encoded, Whisper
from engine.words import Word

WINDOW = Encoded(None, 3_000)
LOOP = "mm, " * 40


class Scripted(Whisper):
    """Owner of the attempts that are still to come, and of the prompts and beams that were asked for."""

    def __init__(self, text: TokenText, *attempts: tuple[str, float, float]) -> None:
        self.text = text
        self.attempts = list(attempts)  # text, average log probability, probability of no speech
        self.asked: list[tuple[list[int], float, int]] = []

    def attempt(
        self, encoded: Encoded, prompt: list[int], temperature: float, no_repeat: int = 0, beam: int = BEAM
    ) -> Attempt:
        self.asked.append((prompt, temperature, beam))
        text, likely, silent = self.attempts.pop(0)
        return Attempt(tuple(self.text.encode(text)), temperature, likely, silent)


def hiss(*parts: tuple[float, float]) -> NDArray[np.float32]:
    """Noise: seconds and decibels below full scale by turns."""
    draw = np.random.default_rng(1)
    pieces = [10 ** (level / 20) * draw.normal(0, 1, round(seconds * RATE_HZ)) for seconds, level in parts]
    return np.concatenate(pieces).astype(np.float32)


def spans(*seconds: tuple[float, float]) -> list[Span]:
    return [Span(round(start * RATE_HZ), round(stop * RATE_HZ)) for start, stop in seconds]


@pytest.mark.parametrize(("spoken", "sung"), [(0.0, True), (4.0, True), (7.0, False), (10.0, False)])
def test_what_is_loud_and_mostly_no_speech_may_be_sung(spoken: float, sung: bool) -> None:
    assert maybe_sung(hiss((10, -20)), spans((0, spoken))) is sung


def test_silence_and_short_noises_are_not_sung() -> None:
    assert not maybe_sung(hiss((10, -55)), [])
    assert not maybe_sung(hiss((1.5, -20), (8, -60)), [])
    assert not maybe_sung(np.zeros(0, np.float32), [])


def test_noise_far_below_the_speaker_does_not_count() -> None:
    assert not maybe_sung(hiss((2, -38), (3, -15), (5, -38)), spans((2, 5)))
    assert maybe_sung(hiss((2, -25), (3, -15), (5, -25)), spans((2, 5)))


@pytest.mark.parametrize(
    ("likely", "silent", "ratio", "kept"),
    [
        (-0.84, 0.0, 1.1, True),  # a slow line over a guitar, which the detector takes for none
        (-0.94, 0.06, 0.8, True),  # the last line of a song
        (-0.61, 0.32, 1.0, True),
        (-0.52, 0.51, 1.4, True),  # a ballad
        (-0.78, 0.71, 0.6, False),  # "Thank you." over a band
        (-0.48, 0.59, 4.1, False),  # "Hallelujah, Hallelujah, …"
        (-1.27, 0.39, 0.6, False),  # "Thank you."
        (-0.77, 0.84, 0.3, False),  # "You"
        (-0.72, 0.75, 0.1, False),  # "."
        (-0.12, 0.77, 26.1, False),  # "Mmm, mm, mm, mm …"
        (-0.15, 0.07, 14.6, False),  # "Hear me hear me hear me …"
        (-1.12, 0.10, 1.4, False),  # "We'll see you in the next video, …"
    ],
)
def test_words_that_are_doubted_or_go_in_circles_are_made_up(
    likely: float, silent: float, ratio: float, kept: bool
) -> None:
    assert believable(Decoded(Attempt((1,), 0.0, likely, silent), (1,), ratio)) is kept


def test_what_is_sung_is_found_by_two_attempts(text: TokenText) -> None:
    whisper = Scripted(text, ("Rain on the wind", -0.9, 0.1), ("Rain on the window", -0.5, 0.1))
    found = decode_sung(whisper, WINDOW, [[1], [2, 1]], 0.0, unchecked)
    assert found is not None
    assert text.text(found.tokens) == " Rain on the window"
    assert whisper.asked == [([1], 0.0, 1), ([2, 1], 0.0, BEAM)]


def test_what_the_greedy_attempt_doubts_costs_no_search(text: TokenText) -> None:
    whisper = Scripted(text, ("Thank you.", -1.2, 0.3))
    assert decode_sung(whisper, WINDOW, [[1]], 0.0, unchecked) is None
    assert len(whisper.asked) == 1


def test_where_the_text_before_leads_astray_it_is_left_out(text: TokenText) -> None:
    whisper = Scripted(text, ("Home", -0.5, 0.1), (LOOP, -0.1, 0.1), ("Home", -0.5, 0.1))
    found = decode_sung(whisper, WINDOW, [[1], [2, 1]], 0.4, unchecked)
    assert found is not None
    assert whisper.asked[1:] == [([2, 1], 0.4, BEAM), ([1], 0.4, BEAM)]


def test_where_the_search_goes_in_circles_nobody_sings(text: TokenText) -> None:
    whisper = Scripted(text, ("me I me", -0.5, 0.1), (LOOP, -0.1, 0.1))
    assert decode_sung(whisper, WINDOW, [[1]], 0.0, unchecked) is None


def test_the_check_comes_before_each_attempt(text: TokenText) -> None:
    calls: list[None] = []
    whisper = Scripted(text, ("Home", -0.5, 0.1), ("Home", -0.5, 0.1))
    decode_sung(whisper, WINDOW, [[1]], 0.0, lambda: calls.append(None))
    assert len(calls) == 2


def words(*times: tuple[float, float]) -> Sequence[Word]:
    return [Word("la", start, end) for start, end in times]


def test_words_within_speech_are_spoken() -> None:
    speech = spans((1, 3), (5, 6))
    assert is_spoken(words((0.9, 1.2), (2, 2.5), (4.9, 5.1)), speech)
    assert not is_spoken(words((0.9, 1.2), (3.5, 4.0), (5, 6)), speech)
    assert not is_spoken(words((0.9, 1.2)), [])
