"""Singing in this process."""

import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import soundfile
from pydantic import JsonValue
from rich.console import Console

from engine.catalogue import Catalogue
from engine.control import Control
from engine.errors import InvalidRequest, UnknownModel
from engine.request import SongRequest
from engine.sketch.pipeline import SketchModel
from engine.song_model import Latents, Track
from engine.sound_options import SoundOptions
from engine.yue2.options import Yue2Options
from server.commands.bar import Bar
from server.commands.local_singer import LocalSinger, local_singer
from server.errors import SettingsError


@pytest.fixture
def bar() -> Bar:
    return Bar(Console(file=io.StringIO()))


def test_a_song_is_written_to_the_sink(bar: Bar) -> None:
    sink = io.BytesIO()
    request: dict[str, JsonValue] = {"style": "folk", "duration": 8, "lm_seed": 1, "seed": 1}
    sung = local_singer({})(request | {"output_format": "flac"}, sink, bar)
    sink.seek(0)
    kept = soundfile.info(sink)
    assert kept.channels == 2
    assert kept.duration == pytest.approx(sung.seconds, abs=0.01)
    assert sung.abc.startswith("X:")
    assert sung.notes == ()


def test_a_wrong_request_is_refused_before_anything_is_made(bar: Bar) -> None:
    with pytest.raises(InvalidRequest):
        local_singer({})({"style": "folk", "duration": -1.0}, io.BytesIO(), bar)


def test_a_model_that_is_not_there_is_told(bar: Bar) -> None:
    with pytest.raises(UnknownModel, match="yue3"):
        local_singer({})({"style": "folk", "model": "yue3"}, io.BytesIO(), bar)


def test_how_to_get_yue2_is_told(bar: Bar) -> None:
    told = r"set YUE2_MODEL and YUE2_VAE \(see the README\), or use --server"
    with pytest.raises(UnknownModel, match=told):
        local_singer({})({"style": "folk", "model": "yue2"}, io.BytesIO(), bar)


def test_the_band_alone_needs_no_settings_of_yue2() -> None:
    catalogue = local_singer({"YUE2_MODEL": "/models/YuE2-3B"}, alone=True).catalogue
    assert catalogue.default_id == "sketch"


def test_wrong_settings_are_told() -> None:
    with pytest.raises(SettingsError, match="YUE2_VAE is not"):
        local_singer({"YUE2_MODEL": "/models/YuE2-3B"})


class Noting(SketchModel):
    """A model that has something to say before the work and after it."""

    def notes(self, request: SongRequest, latents: Latents | None = None) -> tuple[str, ...]:
        return ("Made elsewhere.",)

    def generate(
        self, request: SongRequest, control: Control, latents: Latents | None = None
    ) -> Iterator[Track]:
        silence = np.zeros((4800, 2), dtype=np.float32)
        yield Track({}, silence, 48000, 0.1, notes=("Made elsewhere.", "Cut short."))


def test_notes_are_told_once(bar: Bar, capsys: pytest.CaptureFixture[str]) -> None:
    singer = LocalSinger(Catalogue(Noting()))
    sung = singer({"style": "folk", "output_format": "wav16"}, io.BytesIO(), bar)
    assert capsys.readouterr().err == "Made elsewhere.\n"
    assert sung.notes == ("Cut short.",)


@pytest.mark.parametrize(
    ("environ", "kept"),
    [
        ({"XDG_CACHE_HOME": "/cache"}, "/cache/yue2-studio/digests.json"),
        ({"XDG_CACHE_HOME": "/cache", "YUE2_DATA_DIR": "/state"}, "/state/digests.json"),
        ({}, "/home/ann/.cache/yue2-studio/digests.json"),
    ],
)
def test_nothing_is_written_into_the_working_directory(
    monkeypatch: pytest.MonkeyPatch, environ: dict[str, str], kept: str
) -> None:
    opened: list[Yue2Options | None] = []

    def note(weights: Yue2Options | None, sound: SoundOptions) -> Catalogue:
        opened.append(weights)
        return Catalogue()

    monkeypatch.setattr("server.commands.local_singer.open_catalogue", note)
    monkeypatch.setenv("HOME", "/home/ann")
    local_singer({"YUE2_MODEL": "/models/YuE2-3B", "YUE2_VAE": "/models/YuE2-Vae"} | environ)
    (weights,) = opened
    assert weights is not None
    assert weights.digest_file == Path(kept)
