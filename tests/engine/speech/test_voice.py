"""Words are heard when the network says so."""

import numpy as np
import pytest

from engine.errors import NumericalError
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


def test_no_phonemes_are_no_sound(network: SpeechNetwork) -> None:
    said = HibariVoice(network).utter((Phonemic("x", "", ""),), 1.0, np.random.default_rng(1))
    assert (len(said.sound), said.spans) == (0, ((0.0, 0.0),))


def test_samples_that_are_not_finite_are_an_error() -> None:
    with pytest.raises(NumericalError, match="not finite"):
        checked(np.array([0.0, np.nan], np.float32))
