"""Whisper by CTranslate2."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

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


class Modelled:
    """Owner of what was asked for; finds two words in everything."""

    def __init__(self) -> None:
        self.asked: list[dict[str, object]] = []

    def generate(self, states: object, prompts: list[list[int]], **options: object) -> list[SimpleNamespace]:
        self.asked.append(options)
        return [SimpleNamespace(sequences_ids=[[5, 6, 7]], scores=[-0.8], no_speech_prob=0.25)]


@pytest.fixture
def modelled(monkeypatch: pytest.MonkeyPatch) -> list[Modelled]:
    """The models that are opened in place of CTranslate2's."""
    models: list[Modelled] = []

    def model(folder: str, **options: object) -> Modelled:
        models.append(Modelled())
        return models[-1]

    monkeypatch.setattr(ctranslate2.models, "Whisper", model)
    return models


@pytest.fixture(scope="module")
def whisper(opened_whisper: Whisper) -> Whisper:
    return opened_whisper


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


def test_five_paths_are_searched_and_five_draws_made(light: Weights, modelled: list[Modelled]) -> None:
    whisper = Whisper(light, "cpu", "int8", 1)
    for temperature, no_repeat in [(0.0, 0), (0.6, 5)]:
        whisper.attempt(Encoded(None, 0), [1], temperature, no_repeat)
    whisper.attempt(Encoded(None, 0), [1], 0.0, beam=1)
    search, draws, greedy = modelled[0].asked
    assert (search["beam_size"], search["no_repeat_ngram_size"], search["max_length"]) == (5, 0, 448)
    assert (draws["beam_size"], draws["num_hypotheses"], draws["sampling_topk"]) == (1, 5, 0)
    assert (draws["sampling_temperature"], draws["no_repeat_ngram_size"]) == (0.6, 5)
    assert greedy["beam_size"] == 1


def test_the_average_counts_the_end_as_a_token(light: Weights, modelled: list[Modelled]) -> None:
    attempt = Whisper(light, "cpu", "int8", 1).attempt(Encoded(None, 0), [1], 0.0)
    assert attempt == replace(attempt, tokens=(5, 6, 7), temperature=0.0, no_speech_probability=0.25)
    assert attempt.average_log_probability == pytest.approx(-0.6)


def test_a_model_that_has_drawn_is_opened_again_for_the_next_recording(
    light: Weights, modelled: list[Modelled]
) -> None:
    whisper = Whisper(light, "cpu", "int8", 1)
    for temperature, count in [(0.0, 1), (0.2, 2), (0.0, 2)]:
        whisper.attempt(Encoded(None, 0), [1], temperature)
        whisper.begin()
        assert len(modelled) == count


@pytest.mark.runtime
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
