"""The models present."""

import sys
from pathlib import Path

import pytest

from engine.catalogue import Catalogue, open_catalogue
from engine.errors import CheckpointError, InvalidRequest, MissingExtra, UnknownModel
from engine.sound_options import SoundOptions
from engine.speech.kokoro import installed
from engine.yue2.options import Yue2Options
from tests.server.sound_doubles import SpeechDouble, TranscriptionDouble
from tests.server.yue2_double import Yue2Double


def test_the_sketch_is_always_present_and_the_default() -> None:
    catalogue = Catalogue()
    assert catalogue.default_id == "sketch"
    assert catalogue.model("") is catalogue.model("sketch") is catalogue.sketch


def test_an_unknown_model_is_named_with_those_present() -> None:
    with pytest.raises(UnknownModel, match="'yue3' here; choose one of: sketch"):
        Catalogue().model("yue3")


def test_yue2_where_it_is_not_says_how_to_get_it() -> None:
    with pytest.raises(
        UnknownModel, match=r"'yue2' here; .* set YUE2_MODEL and YUE2_VAE to the folders"
    ) as caught:
        Catalogue().model("yue2")
    assert caught.value.model == "yue2"


def test_models_are_described_for_clients() -> None:
    (sketch,) = Catalogue().describe()
    assert sketch["id"] == "sketch"
    assert {"kind", "description", "languages", "operations", "defaults"} <= set(sketch)


def test_yue2_comes_first_and_is_the_default_where_it_is() -> None:
    yue2 = Yue2Double()
    catalogue = Catalogue(yue2=yue2)
    assert catalogue.default_id == "yue2"
    assert catalogue.model("") is catalogue.model("yue2") is yue2
    assert catalogue.model("sketch") is catalogue.sketch
    assert [model["id"] for model in catalogue.describe()] == ["yue2", "sketch"]
    with pytest.raises(UnknownModel, match="choose one of: yue2, sketch"):
        catalogue.model("yue3")


def test_the_codec_is_that_of_yue2() -> None:
    yue2 = Yue2Double()
    catalogue = Catalogue(yue2=yue2)
    assert catalogue.codec("") is catalogue.codec("yue2") is yue2
    with pytest.raises(InvalidRequest, match="'sketch' has no audio codec; name 'yue2' or leave model out"):
        catalogue.codec("sketch")
    with pytest.raises(UnknownModel, match="'yue3' here"):
        catalogue.codec("yue3")
    for name in ("", "yue2", "sketch"):
        with pytest.raises(UnknownModel, match="set YUE2_MODEL and YUE2_VAE to the folders of its weights"):
            Catalogue().codec(name)


def test_every_model_gives_its_memory_back() -> None:
    yue2, spoken, heard = Yue2Double(), SpeechDouble(), TranscriptionDouble()
    Catalogue(yue2=yue2, speech=[spoken], transcription=[heard]).unload()
    assert (yue2.unloaded, spoken.unloaded, heard.unloaded) == (1, 1, 1)


class SecondSpeech(SpeechDouble):
    id = "second"


def test_models_of_speech_and_transcription_have_a_default_of_their_own() -> None:
    first, second, heard = SpeechDouble(), SecondSpeech(), TranscriptionDouble()
    catalogue = Catalogue(speech=[first, second], transcription=[heard])
    assert catalogue.speech("") is catalogue.speech("spoken") is first
    assert catalogue.speech("second") is second
    assert catalogue.transcription("") is catalogue.transcription("heard") is heard
    assert [model["id"] for model in catalogue.describe()] == ["sketch", "spoken", "second", "heard"]
    assert catalogue.default_ids == {
        "synth": "sketch",
        "plan": "sketch",
        "sketch": "sketch",
        "speech": "spoken",
        "transcribe": "heard",
    }
    assert set(Catalogue().default_ids) == {"synth", "plan", "sketch"}


def test_a_model_asked_for_what_another_kind_does_says_so() -> None:
    catalogue = Catalogue(speech=[SpeechDouble(), SecondSpeech()], transcription=[TranscriptionDouble()])
    with pytest.raises(
        InvalidRequest, match="'sketch' is not one that speaks; name 'spoken' or 'second', or leave"
    ):
        catalogue.speech("sketch")
    with pytest.raises(InvalidRequest, match="'spoken' is not one that writes down speech; name 'heard'"):
        catalogue.transcription("spoken")
    with pytest.raises(InvalidRequest, match="'heard' is not one that makes songs; name 'sketch'") as caught:
        catalogue.model("heard")
    assert caught.value.field == "model"
    with pytest.raises(InvalidRequest, match="'sketch' is not one that speaks; none does here"):
        Catalogue().speech("sketch")


def test_an_unknown_model_of_a_kind_is_named_with_those_of_its_kind() -> None:
    catalogue = Catalogue(speech=[SpeechDouble()])
    with pytest.raises(UnknownModel, match="'loud' here; choose one of: spoken"):
        catalogue.speech("loud")
    with pytest.raises(UnknownModel, match="no model here writes down speech"):
        catalogue.transcription("")


def test_without_weights_of_yue2_there_are_the_models_that_come_along() -> None:
    kinds = [model["kind"] for model in open_catalogue(None).describe()]
    assert kinds == ["sketch", "speech", "transcription"]


def test_voices_of_kokoro_are_offered_where_their_files_are(tmp_path: Path) -> None:
    (tmp_path / "af_bella.bin").write_bytes(b"read with its first words")
    models = open_catalogue(None, SoundOptions(voices_folder=tmp_path))
    voices = models.speech("").describe()["voices"]
    assert isinstance(voices, list)
    ids = [voice["id"] for voice in voices if isinstance(voice, dict)]
    assert ids[0] == "heart"
    assert ("af_bella" in ids) is installed()
    assert "af_heart" not in ids


def test_a_folder_that_holds_no_whisper_is_named(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=str(tmp_path)):
        open_catalogue(None, SoundOptions(whisper_folder=tmp_path))


def test_a_missing_library_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "engine.yue2.pipeline", None)
    with pytest.raises(MissingExtra, match=r"\.venv/bin/pip install -c constraints\.txt -e '\.\[yue2\]'"):
        open_catalogue(Yue2Options(tmp_path, tmp_path, tmp_path / "digests.json", "cpu"))


def test_the_listener_gets_device_threads_and_folder_as_they_were_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[tuple[object, dict[str, object]]] = []

    def listener(folder: object, **options: object) -> TranscriptionDouble:
        asked.append((folder, options))
        return TranscriptionDouble()

    monkeypatch.setattr("engine.catalogue.WhisperTranscription", listener)
    open_catalogue(None, SoundOptions(device="cuda:1", threads=3, whisper_folder=Path("/whisper")))
    assert asked == [(Path("/whisper"), {"device": "cuda:1", "threads": 3})]
