"""Which attempt at a window is kept."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from engine.control import unchecked
from engine.transcription.decoding import decode, temperatures
from engine.transcription.tokens import TokenText
from engine.transcription.whisper import BEAM, Attempt, Encoded, Whisper


@dataclass
class Scripted(Whisper):
    """Owner of the attempts that are still to come, and of what was asked for."""

    text: TokenText
    attempts: list[tuple[str, float, float]]  # text, average log probability, probability of no speech
    asked: list[tuple[float, int]] = field(default_factory=list)

    def attempt(
        self,
        encoded: Encoded,
        prompt: Sequence[int],
        temperature: float,
        no_repeat: int = 0,
        beam: int = BEAM,
    ) -> Attempt:
        self.asked.append((temperature, no_repeat))
        text, likely, silent = self.attempts.pop(0)
        return Attempt(tuple(self.text.encode(text)), temperature, likely, silent)


LOOP = "and so it goes on " * 20
WINDOW = Encoded(np.zeros(0), 3_000)


def test_temperatures_rise_to_one_in_fifths() -> None:
    assert temperatures(0.0) == (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
    assert temperatures(0.5) == (0.5, 0.7, 0.9)
    assert temperatures(1.0) == (1.0,)


def test_a_good_attempt_is_the_only_one(text: TokenText) -> None:
    whisper = Scripted(text, [("Good morning.", -0.3, 0.1)])
    decoded = decode(whisper, WINDOW, [], 0.0, unchecked)
    assert text.text(decoded.tokens) == " Good morning."
    assert whisper.asked == [(0.0, 0)]


def test_after_an_unlikely_one_the_next_is_freer(text: TokenText) -> None:
    whisper = Scripted(text, [("Gut mourning.", -1.4, 0.1), ("Good morning.", -0.8, 0.1)])
    assert decode(whisper, WINDOW, [], 0.0, unchecked).attempt.temperature == 0.2
    assert whisper.asked == [(0.0, 0), (0.2, 0)]


def test_after_one_in_circles_the_next_may_not_repeat_itself(text: TokenText) -> None:
    whisper = Scripted(text, [(LOOP, -0.1, 0.1), ("Good morning.", -0.8, 0.1)])
    decode(whisper, WINDOW, [], 0.0, unchecked)
    assert whisper.asked == [(0.0, 0), (0.2, 5)]


def test_after_two_in_circles_none_is_drawn_any_more(text: TokenText) -> None:
    whisper = Scripted(text, [(LOOP, -0.3, 0.1), (LOOP, -0.1, 0.1), ("Good morning.", -0.2, 0.1)])
    decoded = decode(whisper, WINDOW, [], 0.0, unchecked)
    assert whisper.asked == [(0.0, 0), (0.2, 5)]
    assert decoded.attempt.average_log_probability == -0.1
    assert text.text(decoded.tokens).count("so it goes") == 1


def test_after_one_less_likely_than_the_one_before_none_is_drawn_any_more(text: TokenText) -> None:
    whisper = Scripted(text, [("One.", -1.2, 0.1), ("Two.", -1.3, 0.1), ("Three.", -0.2, 0.1)])
    decoded = decode(whisper, WINDOW, [], 0.0, unchecked)
    assert len(whisper.asked) == 2
    assert text.text(decoded.tokens) == " One."


def test_a_window_costs_four_attempts_at_most(text: TokenText) -> None:
    whisper = Scripted(text, [("One.", -1.9 + place / 10, 0.1) for place in range(6)])
    decode(whisper, WINDOW, [], 0.0, unchecked)
    assert [degree for degree, _ in whisper.asked] == [0.0, 0.2, 0.4, 0.6]


def test_where_nobody_speaks_nothing_is_kept(text: TokenText) -> None:
    whisper = Scripted(text, [("Thank you.", -1.4, 0.9)])
    assert decode(whisper, WINDOW, [], 0.0, unchecked).tokens == ()


def test_speech_that_is_likely_counts_for_more_than_that_there_seems_to_be_none(text: TokenText) -> None:
    whisper = Scripted(text, [("Thank you.", -0.3, 0.9)])
    assert text.text(decode(whisper, WINDOW, [], 0.0, unchecked).tokens) == " Thank you."


def test_of_bad_attempts_the_likeliest_is_kept_that_is_not_in_circles(text: TokenText) -> None:
    attempts = [(LOOP, -0.1, 0.1), ("One.", -1.5, 0.1), ("Two.", -1.2, 0.1), ("Three.", -1.9, 0.1)]
    decoded = decode(Scripted(text, attempts), WINDOW, [], 0.4, unchecked)
    assert text.text(decoded.tokens) == " Two."


def test_where_all_go_in_circles_the_circle_is_gone_through_once(text: TokenText) -> None:
    decoded = decode(Scripted(text, [(LOOP, -0.1, 0.1)]), WINDOW, [], 1.0, unchecked)
    assert text.text(decoded.tokens).count("so it goes") == 1
    assert decoded.compression_ratio < 2.4


def test_the_check_comes_before_each_attempt(text: TokenText) -> None:
    calls: list[None] = []
    whisper = Scripted(text, [("No.", -1.4, 0.1), ("Yes.", -0.3, 0.1)])
    decode(whisper, WINDOW, [], 0.0, lambda: calls.append(None))
    assert len(calls) == 2
