"""Words are heard when the network says so."""

import time

import numpy as np
import pytest

from engine.errors import NumericalError
from engine.speech.joining import levels
from engine.speech.network import RATE_HZ, SpeechNetwork
from engine.speech.phonemes import Phonemic, Phonemiser
from engine.speech.voice import HibariVoice, checked, spelled


def test_places_of_words_within_their_line() -> None:
    words = (Phonemic("", "", "“"), Phonemic("a", "xyz", ", "), Phonemic("b", "x", "."))
    assert spelled(words, lambda phonemes: phonemes.replace("y", "")) == ("“xz, x.", [(0, 0), (1, 3), (5, 6)])


def test_words_are_heard_one_after_the_other(network: SpeechNetwork, phonemiser: Phonemiser) -> None:
    words = phonemiser.read("Please open the window.")
    said = HibariVoice(network).utter(words, 1.0, np.random.default_rng(1))
    edges = [second for span in said.spans for second in span]
    assert edges == sorted(edges)
    assert edges[0] > 0.1
    assert edges[-1] < len(said.sound) / RATE_HZ


def test_words_are_loud_and_what_is_around_them_is_not(
    network: SpeechNetwork, phonemiser: Phonemiser
) -> None:
    said = HibariVoice(network).utter(phonemiser.read("Go."), 1.0, np.random.default_rng(1))
    ((start, stop),) = said.spans
    inside = said.sound[int(start * RATE_HZ) : int(stop * RATE_HZ)]
    before = said.sound[: int(start * RATE_HZ) - RATE_HZ // 10]
    assert np.sqrt(np.mean(inside**2)) > 100 * np.sqrt(np.mean(before**2))


@pytest.mark.parametrize("speed", [0.5, 1.0, 2.0])
def test_words_are_heard_when_they_are_told_at_every_speed(
    network: SpeechNetwork, phonemiser: Phonemiser, speed: float
) -> None:
    said = HibariVoice(network).utter(phonemiser.read("Stop. Go."), speed, np.random.default_rng(1))
    (start, stop), (again, end) = said.spans
    loud = levels(said.sound)  # each 10 ms
    assert loud[int((again - 0.06 / speed) * 100)] < 0.03 < loud[int((again + 0.04 / speed) * 100)]
    for first, last in ((start, stop), (again, end)):
        assert loud[int(first * 100) : int(last * 100)].max() > 0.05
    assert loud[int(end * 100) :].max() < 0.01
    assert end > 0.8 * len(said.sound) / RATE_HZ


class Stopped(Exception):
    """The caller's own error."""


def test_it_stops_before_the_sound_is_made(network: SpeechNetwork, phonemiser: Phonemiser) -> None:
    def check() -> None:
        raise Stopped

    with pytest.raises(Stopped):
        HibariVoice(network).utter(phonemiser.read("Go."), 1.0, np.random.default_rng(1), check)


@pytest.mark.parametrize(("speed", "most"), [(0.5, 150), (0.75, 225), (1.0, 300), (2.0, 300)])
def test_less_is_said_at_once_where_it_is_slow(network: SpeechNetwork, speed: float, most: int) -> None:
    assert HibariVoice(network).most_phonemes(speed) == most


def test_what_cannot_be_stopped_is_short_even_where_it_is_slow(network: SpeechNetwork) -> None:
    voice = HibariVoice(network)
    words = (Phonemic("x", "wˈʌn " * (voice.most_phonemes(0.5) // 5), "."),)
    begun = time.process_time()
    voice.utter(words, 0.5, np.random.default_rng(1))
    assert time.process_time() - begun < 0.4


def test_no_phonemes_are_no_sound(network: SpeechNetwork) -> None:
    said = HibariVoice(network).utter((Phonemic("x", "", ""),), 1.0, np.random.default_rng(1))
    assert (len(said.sound), said.spans) == (0, ((0.0, 0.0),))


def test_samples_that_are_not_finite_are_an_error() -> None:
    with pytest.raises(NumericalError, match="not finite"):
        checked(np.array([0.0, np.nan], np.float32))
