"""The network opened from within does what it did before, and what it is told."""

from dataclasses import replace

import numpy as np
import pytest

from engine.errors import CheckpointError
from engine.sketch.voice import network as inside
from engine.sketch.voice.network import SungNetwork, with_input
from engine.speech.network import WEIGHTS, SpeechNetwork

HELLO = "həlˈO wˈɜɹld."


def test_given_its_own_reading_it_says_what_the_speech_network_says(network: SungNetwork) -> None:
    usual, reading = SpeechNetwork().spectra(HELLO), network.read(HELLO)
    assert np.array_equal(usual.durations, 2 * reading.steps)
    assert np.allclose(usual.pitch, reading.pitch, atol=0.1)
    again = network.spectra(HELLO, reading.steps, reading.pitch, reading.energy)
    assert np.allclose(again.harmonic, usual.harmonic, atol=1e-3)
    assert np.allclose(again.free, usual.free, atol=1e-3)


def test_it_takes_the_length_it_is_told(network: SungNetwork) -> None:
    reading = network.read(HELLO)
    steps = reading.steps * 2
    frames = 2 * int(steps.sum())
    spectra = network.spectra(HELLO, steps, np.full(frames, 200, np.float32), np.full(frames, 7, np.float32))
    assert spectra.harmonic.shape == (601, frames)


def test_louder_and_softer_are_heard(network: SungNetwork) -> None:
    reading = network.read(HELLO)
    loud, soft = (
        network.spectra(HELLO, reading.steps, reading.pitch, reading.energy + change)
        .harmonic[4:50]
        .max(axis=0)
        for change in (0.5, -3.0)
    )
    assert np.median(loud - soft) > 0.5


def test_it_opens_again_after_it_was_closed() -> None:
    network = SungNetwork()
    before = network.read("ˈA.").steps
    network.unload()
    assert np.array_equal(network.read("ˈA.").steps, before)
    assert network.known("ˈA漢") == "ˈA"


def test_a_name_of_another_length_cannot_be_written_over() -> None:
    with pytest.raises(ValueError, match="same length"):
        with_input(b"", "/a", "/long", 1)
    with pytest.raises(ValueError, match="longer length field"):
        with_input(b"", "x" * 200, "y" * 200, 1)


def test_other_weights_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inside, "WEIGHTS", replace(WEIGHTS, sha256="0" * 64))
    with pytest.raises(CheckpointError, match="is not the file of hibari-tts"):
        SungNetwork().read("ˈA.")
