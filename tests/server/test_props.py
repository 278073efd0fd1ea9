"""What `/props` says."""

from pathlib import Path

import pytest
from pydantic import BaseModel

from engine.catalogue import Catalogue
from engine.request import SongRequest
from engine.speech_request import SpeechRequest
from engine.transcription_request import TranscriptionRequest
from server.limits import FOLLOWERS, MAX_WAIT_SECONDS, Limits
from server.props import build_props
from server.settings import load
from tests.server.sound_doubles import SpeechDouble, TranscriptionDouble


@pytest.fixture(scope="module")
def props() -> dict[str, object]:
    catalogue = Catalogue(speech=[SpeechDouble()], transcription=[TranscriptionDouble()])
    settings = load({"YUE2_RESULT_DIR": str(Path("/nowhere/jobs")), "YUE2_RESULT_MAX_FILES": "7"})
    return dict(build_props(catalogue, settings, "1.2.3"))


def test_models_are_listed_with_the_one_that_each_operation_takes(props: dict[str, object]) -> None:
    models = props["models"]
    assert isinstance(models, list)
    assert [model["id"] for model in models] == ["sketch", "spoken", "heard"]
    assert props["default_models"] == {
        "synth": "sketch",
        "plan": "sketch",
        "sketch": "sketch",
        "speech": "spoken",
        "transcribe": "heard",
    }
    assert (props["name"], props["version"], props["default_model"]) == ("yue2-studio", "1.2.3", "sketch")


@pytest.mark.parametrize(
    ("operation", "shape"),
    [("synth", SongRequest), ("speech", SpeechRequest), ("transcribe", TranscriptionRequest)],
)
def test_defaults_have_every_field(props: dict[str, object], operation: str, shape: type[BaseModel]) -> None:
    defaults = props["defaults"]
    assert isinstance(defaults, dict)
    assert set(defaults[operation]) == set(shape.model_fields)


def test_limits_are_those_in_force(props: dict[str, object]) -> None:
    limits = props["limits"]
    assert isinstance(limits, dict)
    assert limits["followers"] == FOLLOWERS == Limits().followers.total == 16
    assert (limits["wait_seconds"], limits["result_max_files"]) == (MAX_WAIT_SECONDS, 7)
