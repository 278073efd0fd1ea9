"""Whisper by CTranslate2."""

from pathlib import Path

import ctranslate2
import numpy as np
import pytest
import soundfile
import soxr

from engine.errors import CheckpointError, DeviceError, OutOfMemory
from engine.transcription.features import RATE_HZ
from engine.transcription.weights import Weights, packaged
from engine.transcription.whisper import Encoded, Whisper
from tests.engine.transcription.spoken import Recording


@pytest.fixture(scope="module")
def whisper() -> Whisper:
    return Whisper(packaged(), "cpu", "int8", 1)


@pytest.fixture(scope="module")
def window(whisper: Whisper, recording: Recording) -> Encoded:
    """The first phrase."""
    samples, rate = soundfile.read(recording.file(), dtype="float32")
    sound = np.asarray(soxr.resample(samples, rate, RATE_HZ), np.float32)
    return whisper.heard(sound[: round((recording.times[0][1] + 0.3) * RATE_HZ)])


def test_a_phrase_is_found_with_its_times(whisper: Whisper, window: Encoded, recording: Recording) -> None:
    attempt = whisper.attempt(window, whisper.text.opening("", "transcribe"), 0.0)
    assert whisper.text.text(attempt.tokens).strip() == recording.phrases[0]
    assert attempt.tokens[0] >= whisper.text.first_timestamp
    assert -1 < attempt.average_log_probability < 0
    assert attempt.no_speech_probability < 0.3
    words = whisper.text.encode(recording.phrases[0])
    pairs = whisper.pairs(window, [whisper.text.start], words)
    ticks = [tick for _, tick in pairs]
    assert {token for token, _ in pairs} >= set(range(len(words)))
    assert ticks == sorted(ticks)
    assert max(ticks) <= window.frames // 2


def test_draws_are_the_same_after_a_new_beginning(whisper: Whisper, window: Encoded) -> None:
    drawn = []
    for _ in range(2):
        whisper.begin()
        drawn.append(whisper.attempt(window, [whisper.text.start], 1.0).tokens)
    assert drawn[0] == drawn[1]
    assert drawn[0] != whisper.attempt(window, [whisper.text.start], 1.0).tokens


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"cannot open the model in .*; fetch it again"):
        Whisper(Weights("whisper-x", tmp_path, ("en",), False), "cpu", "int8", 1)


@pytest.mark.parametrize(
    ("words", "kind"),
    [("CUDA driver version is insufficient", DeviceError), ("CUDA failed: out of memory", OutOfMemory)],
)
def test_the_device_is_to_blame_where_it_is(
    monkeypatch: pytest.MonkeyPatch, words: str, kind: type[Exception]
) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise RuntimeError(words)

    monkeypatch.setattr(ctranslate2.models, "Whisper", fail)
    with pytest.raises(kind):
        Whisper(packaged(), "cpu", "int8", 1)


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("Library libcublas.so.12 is not found or cannot be loaded", DeviceError),
        ("CUDA failed with error out of memory", OutOfMemory),
        ("something else", RuntimeError),
    ],
)
def test_the_device_is_to_blame_for_what_fails_later_too(
    whisper: Whisper, monkeypatch: pytest.MonkeyPatch, words: str, kind: type[Exception]
) -> None:
    class Broken:
        def generate(self, *arguments: object, **options: object) -> None:
            raise RuntimeError(words)

    monkeypatch.setattr(whisper, "_model", Broken())
    with pytest.raises(kind):
        whisper.attempt(Encoded(None, 0), [whisper.text.start], 0.0)
