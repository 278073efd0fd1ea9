"""Samples without a head: 16-bit PCM, and the laws of telephones against those of FFmpeg."""

import io

import numpy as np
import pytest

from engine.audio import AudioForm, Samples, encode
from engine.audio.wav import SampleQuantiser
from tests.engine.audio.telephone import telephone_values

ALL = np.arange(-32_768, 32_768)


def written(samples: Samples, form: AudioForm, rate_hz: int = 8_000) -> bytes:
    sink = io.BytesIO()
    encode(samples, rate_hz, form, sink)
    return sink.getvalue()


def test_pcm_is_what_stands_in_a_wave_file_behind_its_head() -> None:
    samples = np.random.default_rng(1).uniform(-1.2, 1.2, (5_000, 2)).astype(np.float32)
    octets = written(samples, AudioForm("pcm"))
    assert octets == written(samples, AudioForm("wav16"))[44:]
    assert octets == bytes(SampleQuantiser(16).quantise(samples))


@pytest.mark.parametrize(("law", "bias"), [("ulaw", 132), ("alaw", 512)])
def test_every_value_is_told_as_near_as_its_law_can(law: str, bias: int) -> None:
    samples = (ALL / 32_767).astype(np.float32)[:, None]
    octets = written(samples, AudioForm(law))
    heard = telephone_values(law, octets)
    assert (np.diff(heard.astype(int)) >= 0).all()
    off = np.abs(heard - ALL)
    inside = np.abs(ALL) < 32_124  # the largest that the mu-law has
    assert (off[inside] <= (np.abs(ALL[inside]) + bias) / 32).all()
    assert set(np.frombuffer(octets, np.uint8)) >= set(range(256)) - {0x7F}


@pytest.mark.parametrize("law", ["ulaw", "alaw"])
def test_what_is_heard_is_written_with_the_same_byte_again(law: str) -> None:
    octets = bytes(value for value in range(256) if value != 0x7F)  # the second zero of the mu-law
    heard = telephone_values(law, octets).astype(np.float32)[:, None] / np.float32(32_767)
    assert written(heard, AudioForm(law)) == octets


def test_silence_is_the_quietest_byte_all_along() -> None:
    silence = np.zeros((100, 1), np.float32)
    assert written(silence, AudioForm("ulaw")) == b"\xff" * 100
    assert written(silence, AudioForm("alaw")) == b"\xd5" * 100


def test_overs_are_clipped_not_wrapped() -> None:
    loud = np.array([[2.0], [-2.0]], np.float32)
    assert written(loud, AudioForm("ulaw")) == b"\x80\x00"
    assert written(loud, AudioForm("alaw")) == b"\xaa\x2a"


def test_nothing_gives_nothing() -> None:
    for codec in ("pcm", "ulaw", "alaw"):
        assert written(np.zeros((0, 1), np.float32), AudioForm(codec)) == b""
