"""Where somebody speaks."""

import hashlib
from importlib import resources

import numpy as np
import pytest
import soundfile
import soxr
from numpy.typing import NDArray

from engine.errors import CheckpointError
from engine.transcription import voice_activity
from engine.transcription.features import RATE_HZ
from engine.transcription.spans import Span
from engine.transcription.voice_activity import NAME, SHA256, SpeechDetector
from tests.engine.transcription.spoken import Recording


@pytest.fixture(scope="module")
def detector() -> SpeechDetector:
    return SpeechDetector()


def spans(detector: SpeechDetector, samples: NDArray[np.float32], step: int) -> list[Span]:
    speech = detector.recording()
    found = [
        span for start in range(0, len(samples), step) for span in speech.feed(samples[start : start + step])
    ]
    return found + speech.finish()


def heard(recording: Recording) -> NDArray[np.float32]:
    samples, rate = soundfile.read(recording.file(), dtype="float32")
    return np.asarray(soxr.resample(samples, rate, RATE_HZ), np.float32)


def test_phrases_are_found_to_a_tenth_of_a_second(detector: SpeechDetector, recording: Recording) -> None:
    found = spans(detector, heard(recording), 16_000)
    assert len(found) == len(recording.phrases)
    for span, (start, end) in zip(found, recording.times, strict=True):
        assert span.start / RATE_HZ == pytest.approx(start, abs=0.06)
        assert span.stop / RATE_HZ == pytest.approx(end, abs=0.15)


def test_blocks_of_any_size_give_the_same_spans(detector: SpeechDetector, recording: Recording) -> None:
    samples = heard(recording)
    assert spans(detector, samples, 7_001) == spans(detector, samples, len(samples))


def test_silence_noise_and_tones_are_no_speech(detector: SpeechDetector) -> None:
    draw = np.random.default_rng(3)
    seconds = np.arange(5 * RATE_HZ) / RATE_HZ
    sounds = [
        np.zeros_like(seconds),
        draw.normal(0, 0.2, len(seconds)),
        np.sin(2 * np.pi * 440 * seconds) / 2,
    ]
    assert [spans(detector, sound.astype(np.float32), RATE_HZ) for sound in sounds] == [[], [], []]


def test_the_file_beside_the_module_is_the_one_that_was_tried_and_has_its_licence() -> None:
    folder = resources.files("engine.transcription") / "silero"
    assert hashlib.sha256((folder / NAME).read_bytes()).hexdigest() == SHA256
    assert "MIT License" in (folder / "LICENSE").read_text("utf-8")


def test_another_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(voice_activity, "SHA256", "0" * 64)
    with pytest.raises(CheckpointError, match="is damaged"):
        SpeechDetector()
