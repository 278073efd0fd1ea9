"""Where Whisper computes."""

import io
import logging

import ctranslate2
import numpy as np
import pytest
import soundfile

from engine.control import Uncontrolled
from engine.errors import DeviceError
from engine.transcription.device import chosen, opened
from engine.transcription.features import RATE_HZ
from engine.transcription.pipeline import WhisperTranscription
from engine.transcription.weights import Weights
from engine.transcription_request import TranscriptionRequest

MISSING = "Library libcublas.so.12 is not found or cannot be loaded"
Options = dict[str, object]


class Processor:
    """A model that is opened at once, and nothing is computed with."""


class Card:
    """A model on a card whose library for matrices is missing, which shows when something is computed."""

    n_mels = 80

    def encode(self, view: object) -> None:
        raise RuntimeError(MISSING)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Options]:
    """What CTranslate2 is asked for."""
    told: list[Options] = []

    def model(folder: str, **options: object) -> object:
        told.append(options)
        return Card() if options["device"] == "cuda" else Processor()

    monkeypatch.setattr(ctranslate2.models, "Whisper", model)
    return told


@pytest.mark.parametrize(("cards", "name"), [(0, "cpu"), (2, "cuda")])
def test_a_card_is_taken_where_there_is_one(monkeypatch: pytest.MonkeyPatch, cards: int, name: str) -> None:
    monkeypatch.setattr(ctranslate2, "get_cuda_device_count", lambda: cards)
    assert chosen("auto").name == name
    assert chosen("cpu").name == "cpu"


def test_each_device_has_its_number_format_unless_one_is_asked_for() -> None:
    assert [chosen(name).compute_type for name in ("cpu", "cuda", "cuda:1")] == ["int8", "float16", "float16"]
    assert chosen("cuda:1", "int8_float16").compute_type == "int8_float16"


@pytest.mark.parametrize(("name", "index"), [("cuda", 0), ("cuda:0", 0), ("cuda:1", 1), ("cuda:12", 12)])
def test_the_card_of_that_number_is_asked_for(
    light: Weights, asked: list[Options], name: str, index: int
) -> None:
    opened(light, chosen(name), 3)
    assert asked[0] == {
        "device": "cuda",
        "device_index": index,
        "compute_type": "float16",
        "intra_threads": 3,
    }


def test_a_card_that_cannot_be_used_leaves_it_to_the_processor(
    light: Weights, asked: list[Options], caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        _, device = opened(light, chosen("cuda:1"), 3)
    assert (device.name, device.compute_type) == ("cpu", "int8")
    assert device.note.startswith("What was said was written down on the processor and not on cuda:1. ")
    assert MISSING in device.note
    assert [options["device"] for options in asked] == ["cuda", "cpu"]
    assert "the processor and not cuda:1" in caplog.text


def test_without_a_usable_processor_nothing_is_left(light: Weights, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object, **options: object) -> None:
        raise ValueError("Requested int8 compute type, but the target device does not support it")

    monkeypatch.setattr(ctranslate2.models, "Whisper", fail)
    with pytest.raises(DeviceError):
        opened(light, chosen("cuda"), 1)
    with pytest.raises(DeviceError):
        opened(light, chosen("cpu"), 1)


def test_the_transcript_tells_and_speeds_are_learnt_for_the_device_that_is_used(
    light: Weights, asked: list[Options]
) -> None:
    model, silence = WhisperTranscription(light.folder, device="cuda:1", threads=1), io.BytesIO()
    assert model.rates_id == f"{model.id} cuda:1 float16"
    soundfile.write(silence, np.zeros(RATE_HZ), RATE_HZ, format="WAV")
    (note,) = model.transcribe(silence, TranscriptionRequest(language="en"), Uncontrolled()).notes
    assert "not on cuda:1" in note
    assert model.rates_id == f"{model.id} cpu int8"
    assert model.describe()["device"] == "cpu"
