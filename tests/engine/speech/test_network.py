"""Phonemes into spectra into sound, by the network that was tried and by no other."""

from collections.abc import Callable

import numpy as np
import pytest

from engine.errors import CheckpointError
from engine.onnx import Network, open_network
from engine.speech.network import (
    ALPHABET,
    BINS,
    FRAME_SAMPLES,
    WEIGHTS,
    SpeechNetwork,
    waveform,
    with_output,
)

HELLO = "həlˈO."


@pytest.mark.parametrize("path", [WEIGHTS.path, ALPHABET.path])
def test_a_changed_file_is_not_opened(path: str, change: Callable[[str], None]) -> None:
    change(path)
    with pytest.raises(CheckpointError, match="is not the file of hibari-tts"):
        SpeechNetwork().known("a")


def test_only_its_alphabet_is_known(network: SpeechNetwork) -> None:
    assert network.known("hə你lˈO\t.") == HELLO


@pytest.mark.parametrize("speed", [0.5, 1.0, 2.0])
def test_durations_count_the_frames_at_every_speed(network: SpeechNetwork, speed: float) -> None:
    spectra, usual = network.spectra(HELLO, speed), network.spectra(HELLO)
    frames = spectra.harmonic.shape[1]
    assert spectra.harmonic.shape == (BINS, frames)
    assert spectra.durations.shape == (len(HELLO) + 2,)
    assert spectra.durations.sum() == frames == len(spectra.pitch)
    assert frames == pytest.approx(len(usual.pitch) / speed, rel=0.15)


def test_a_frame_is_300_samples_and_noise_is_drawn(network: SpeechNetwork) -> None:
    spectra = network.spectra(HELLO)
    once, again, other = (waveform(spectra, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert once.shape == (FRAME_SAMPLES * len(spectra.pitch),)
    assert np.array_equal(once, again)
    assert not np.array_equal(once, other)


def test_it_is_opened_again_after_it_was_unloaded(network: SpeechNetwork) -> None:
    before = network.spectra(network.known(HELLO))
    network.unload()
    assert np.array_equal(before.harmonic, network.spectra(HELLO).harmonic)


def test_an_output_is_appended_as_protocol_buffers_have_it() -> None:
    assert with_output(b"model", "ab") == b"model" + bytes([58, 6, 98, 4, 10, 2]) + b"ab"
    with pytest.raises(ValueError, match="longer length field"):
        with_output(b"", "x" * 130)


def test_one_thread_computes_it_so_that_every_machine_says_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def opened(graph: bytes, threads: int) -> Network:
        asked.append(threads)
        return open_network(graph, threads)

    monkeypatch.setattr("engine.speech.network.open_network", opened)
    SpeechNetwork().known(HELLO)
    assert asked == [1]
