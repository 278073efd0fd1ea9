"""Learnt rates across processes."""

import logging
from pathlib import Path

import pytest

from engine.catalogue import open_catalogue
from engine.speech_request import SpeechRequest
from engine.transcription_request import TranscriptionRequest
from server.jobs.rates import Stage
from server.rates_file import load_rates, save_rates
from server.speech_operations import SpeechOperations


def test_rates_outlive_the_process(tmp_path: Path) -> None:
    rates = load_rates(tmp_path / "state")
    rates.learn("sketch", "rendering", 10.0, 50.0)
    save_rates(rates, tmp_path / "state")
    estimate = load_rates(tmp_path / "state").estimate("sketch", [Stage("rendering", 2.0)])
    assert (estimate.seconds, estimate.source) == (10.0, "history")
    assert [path.name for path in (tmp_path / "state").iterdir()] == ["rates.json"]


def test_what_is_known_already_is_not_written_again(tmp_path: Path) -> None:
    rates = load_rates(tmp_path)
    rates.learn("sketch", "rendering", 1.0, 2.0)
    save_rates(rates, tmp_path)
    (tmp_path / "rates.json").chmod(0o400)
    inode = (tmp_path / "rates.json").stat().st_ino
    save_rates(rates, tmp_path)
    assert (tmp_path / "rates.json").stat().st_ino == inode


def test_without_a_file_there_are_priors(tmp_path: Path) -> None:
    estimate = load_rates(tmp_path).estimate("sketch", [Stage("rendering", 100.0)])
    assert 0 < estimate.seconds < 60
    assert estimate.source == "prior"


@pytest.mark.parametrize(("device", "least", "most"), [("cuda", 60, 300), ("cpu", 3600, 36000)])
def test_a_song_of_yue2_takes_minutes_on_a_card_and_hours_without(
    tmp_path: Path, device: str, least: float, most: float
) -> None:
    phases = {
        "loading": 7,
        "score": 1500,
        "semantic": 4500,
        "acoustic": 180,
        "decoding": 180,
        "encoding": 180,
    }
    stages = [Stage(phase, units) for phase, units in phases.items()]
    rates = load_rates(tmp_path)
    for precision in ("bf16", "fp16", "fp32"):
        estimate = rates.estimate(f"yue2 {device} {precision}", stages)
        assert least < estimate.seconds < most
        assert estimate.source == "prior"


def test_what_comes_along_speaks_and_listens_faster_than_anybody(tmp_path: Path) -> None:
    models = open_catalogue(None)
    speech = SpeechOperations(models, lambda: 0).speech(SpeechRequest(text="a" * 900))  # a minute
    listener = models.transcription("")
    heard = [Stage(stage.phase, stage.units) for stage in listener.stages(TranscriptionRequest(), 60.0)]
    rates = load_rates(tmp_path)
    assert 0 < rates.estimate(speech.rates_id, speech.stages).seconds < 6
    if listener.rates_id.endswith("cpu int8"):
        assert 0 < rates.estimate(listener.rates_id, heard).seconds < 10


@pytest.mark.parametrize("text", ["", "{", "[]", '{"seconds_per_unit": [["a", "b", -1]]}'])
def test_a_damaged_file_is_told_and_begun_afresh(
    tmp_path: Path, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "rates.json").write_text(text)
    with caplog.at_level(logging.WARNING):
        rates = load_rates(tmp_path)
    assert rates.estimate("sketch", [Stage("rendering", 1.0)]).source == "prior"
    assert "start afresh" in caplog.text
