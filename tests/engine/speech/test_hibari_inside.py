"""What is relied on of the inside of hibari-tts; where one of these fails, its message names what changed."""

import inspect
import json
from importlib import metadata
from pathlib import Path

import hibari
import numpy as np
import pytest
from hibari import dsp
from hibari.g2p import G2P
from hibari.g2p.normalize import normalize
from hibari.g2p.token import Tok

from engine.pinned import PinnedFile
from engine.speech import lexicon_files
from engine.speech.network import (
    ALPHABET,
    BINS,
    DURATIONS,
    FRAME_SAMPLES,
    FRAMES_A_STEP,
    RATE_HZ,
    VERSION,
    WEIGHTS,
    SpeechNetwork,
)
from engine.speech.normal.marks import MARKED
from engine.speech.phonemes import PUNCTUATION

ASSETS = Path(str(hibari.__file__)).parent / "assets"
FILES = {**lexicon_files.SHARED, **lexicon_files.AMERICAN, **lexicon_files.BRITISH}


def test_the_version() -> None:
    assert metadata.version("hibari-tts") == VERSION, "hibari-tts was upgraded: go through this file again"


@pytest.mark.parametrize("name", FILES)
def test_files_that_words_are_read_with(name: str) -> None:
    pinned = PinnedFile("hibari-tts", VERSION, f"hibari/assets/{name}", FILES[name])
    assert pinned.verified() == ASSETS / name, f"{name} is elsewhere"


@pytest.mark.parametrize("pinned", [WEIGHTS, ALPHABET])
def test_files_of_the_network(pinned: PinnedFile) -> None:
    assert pinned.verified().parent == ASSETS, f"{pinned.path} is elsewhere"


def test_inputs_and_outputs_of_the_network(network: SpeechNetwork) -> None:
    session = network._opened()
    inputs = {value.name: value.type for value in session.get_inputs()}
    assert inputs == {"ids": "tensor(int64)", "speed": "tensor(float)"}, "the network has other inputs"
    names = [value.name for value in session.get_outputs()]
    assert names == ["lh", "theta", "ln", "lr", "phi", "f0", DURATIONS], "the network gives out other values"


@pytest.mark.parametrize("speed", [0.5, 1.0, 2.0])
def test_durations_count_the_frames(network: SpeechNetwork, speed: float) -> None:
    spectra = network.spectra("həlˈO.", speed)
    frames = len(spectra.pitch)
    assert spectra.durations.sum() == frames, f"{DURATIONS} is no longer the durations in steps of two frames"
    assert len(spectra.durations) == len("həlˈO.") + 2, "the pauses around the phonemes have changed"
    assert not (spectra.durations % FRAMES_A_STEP).any()
    assert spectra.harmonic.shape == spectra.free_phase.shape == (BINS, frames), "spectra have another shape"


def test_constants_of_the_sound() -> None:
    assert (dsp.SR, dsp.HOP) == (RATE_HZ, FRAME_SAMPLES), "frames are of another length"
    assert dsp.N_FFT // 2 + 1 == BINS, "spectra have another number of rows"
    assert dsp.FFT_BACKEND == "scipy", "scipy is not used, and all is several times slower"


@pytest.mark.parametrize(
    ("function", "parameters"),
    [
        (dsp.synth, ["lh", "th", "ln", "lr", "phi", "f0", "rng"]),
        (dsp.pulses, ["f0", "vthresh", "fmax"]),
        (normalize, ["text"]),
        (G2P.tokenize, ["self", "text"]),
        (G2P.phonemize_tokens, ["self", "tokens"]),
        (G2P.__init__, ["self", "oov", "unk", "british"]),
    ],
    ids=lambda value: getattr(value, "__qualname__", ""),
)
def test_signatures(function: object, parameters: list[str]) -> None:
    assert callable(function)
    assert list(inspect.signature(function).parameters) == parameters, f"{function} is called otherwise now"


def test_frames_without_a_voice_make_no_pulses() -> None:
    assert not np.any(dsp.pulses(np.full(4, 39.0, np.float32))), "the threshold of voice is no longer 40 Hz"


def test_attributes_of_tokens() -> None:
    assert {"text", "whitespace", "phonemes"} <= set(Tok.__slots__), "tokens have other attributes"


def test_punctuation_is_in_the_alphabet() -> None:
    alphabet = json.loads((ASSETS / "vocab.json").read_text("utf-8"))
    assert set(PUNCTUATION + " ") <= set(alphabet), "the alphabet has other punctuation"
    assert len(set(alphabet.values())) == len(alphabet), "two letters of the alphabet have one number"


def test_letters_that_the_networks_for_unknown_words_read() -> None:
    for name in ("oov.json", "oov_gb.json"):
        read = json.loads((ASSETS / name).read_text("utf-8"))
        assert set(MARKED) <= set(read["in"]), f"{name} lacks letters"
        assert read["maxlen"] == 24, f"{name} reads words of another length"
