"""Speaking in this process."""

import io

import pytest
import soundfile
from pydantic import JsonValue
from rich.console import Console

from engine.catalogue import Catalogue
from engine.errors import InvalidRequest, UnknownModel
from engine.words import Word
from server.commands.bar import Bar
from server.commands.local_speaker import LocalSpeaker, local_speaker
from server.errors import SettingsError
from tests.server.sound_doubles import SpeechDouble

TEXT: dict[str, JsonValue] = {"text": "Come home. All is well.", "output_format": "flac"}


@pytest.fixture
def bar() -> Bar:
    return Bar(Console(file=io.StringIO()))


@pytest.fixture
def speaker() -> LocalSpeaker:
    return LocalSpeaker(Catalogue(speech=[SpeechDouble()]))


def test_all_sentences_are_written_and_their_words_told(bar: Bar, speaker: LocalSpeaker) -> None:
    sink = io.BytesIO()
    said = speaker(TEXT, sink, bar)
    sink.seek(0)
    kept = soundfile.info(sink)
    assert (kept.channels, kept.samplerate) == (1, 24_000)
    assert kept.duration == said.seconds == pytest.approx(1.25)
    assert said.words[-1] == Word("well", 1.0, 1.25)


def test_a_seed_gives_the_same_sound_again(bar: Bar, speaker: LocalSpeaker) -> None:
    sinks = [io.BytesIO() for _ in range(3)]
    for sink, seed in zip(sinks, (3, 3, 4), strict=True):
        speaker(TEXT | {"seed": seed}, sink, bar)
    first, again, other = (sink.getvalue() for sink in sinks)
    assert first == again != other


def test_a_voice_that_is_not_there_is_refused(bar: Bar, speaker: LocalSpeaker) -> None:
    with pytest.raises(InvalidRequest, match="choose one of: one"):
        speaker(TEXT | {"voice": "two"}, io.BytesIO(), bar)


def test_a_model_that_is_not_there_is_told(bar: Bar, speaker: LocalSpeaker) -> None:
    with pytest.raises(UnknownModel, match="shout"):
        speaker(TEXT | {"model": "shout"}, io.BytesIO(), bar)


@pytest.mark.parametrize("setting", ["YUE2_MODEL", "YUE2_VAE", "YUE2_WHISPER"])
def test_settings_of_other_models_do_not_keep_it_from_speaking(setting: str) -> None:
    assert local_speaker({setting: "/nowhere"}).catalogue.speech("").id


def test_other_wrong_settings_are_told() -> None:
    with pytest.raises(SettingsError, match="YUE2_PORT"):
        local_speaker({"YUE2_PORT": "x"})
