"""The forms of sound: what they are called, and which of them there are."""

import sys

import pytest

from engine.audio import CODECS, FORMATS, AudioForm
from engine.audio.containers import INSTALLATION
from engine.errors import InvalidRequest


@pytest.mark.parametrize(
    ("codec", "content_type", "extension"),
    [
        ("mp3", "audio/mpeg", "mp3"),
        ("opus", "audio/ogg; codecs=opus", "opus"),
        ("flac", "audio/flac", "flac"),
        ("wav16", "audio/wav", "wav"),
        ("wav24", "audio/wav", "wav"),
        ("wav32", "audio/wav", "wav"),
        ("pcm", "audio/pcm", "pcm"),
        ("aac", "audio/aac", "aac"),
        ("ulaw", "audio/basic", "ulaw"),
        ("alaw", "audio/x-alaw-basic", "alaw"),
    ],
)
def test_every_codec_has_its_names(codec: str, content_type: str, extension: str) -> None:
    form = AudioForm(codec)
    form.check()
    assert codec in CODECS
    assert (form.content_type, form.extension) == (content_type, extension)


def test_what_a_request_can_name_are_forms() -> None:
    assert set(FORMATS) < set(CODECS)


@pytest.mark.parametrize(
    "form",
    [
        *(AudioForm("mp3", kbps, 44_100) for kbps in (32, 64, 96, 128, 192)),
        *(AudioForm("mp3", kbps, 48_000) for kbps in (128, 192, 256, 320)),
        AudioForm("mp3", 32, 22_050),
        AudioForm("mp3", 48, 24_000),
        *(AudioForm("pcm", rate_hz=rate) for rate in (8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000)),
        *(AudioForm("opus", kbps, 48_000) for kbps in (32, 64, 96, 128, 192)),
        AudioForm("ulaw", rate_hz=8_000, channels=1),
        AudioForm("alaw", rate_hz=8_000),
        AudioForm("aac", 320, 8_000, 2),
    ],
)
def test_the_forms_that_clients_ask_for_are_there(form: AudioForm) -> None:
    form.check(24_000)
    rate, _ = form.held(24_000, 1)
    assert rate == form.rate_hz


@pytest.mark.parametrize(
    ("form", "made_hz", "field", "sentence"),
    [
        (
            AudioForm("ac3"),
            None,
            "output_format",
            "There is no output format 'ac3'; choose one of: mp3, opus,",
        ),
        (
            AudioForm("mp3", 240),
            None,
            "mp3_bitrate",
            "240 kbit/s is not a bitrate of MP3; choose one of: 32,",
        ),
        (AudioForm("opus", 65), None, "mp3_bitrate", "of Opus"),
        (AudioForm("aac", 1), None, "mp3_bitrate", "of AAC"),
        (AudioForm("mp3", rate_hz=96_000), None, "output_format", "MP3 cannot hold 96000 Hz"),
        (AudioForm("opus"), 44_100, "output_format", "Opus cannot hold 44100 Hz"),
        (AudioForm("aac", rate_hz=7_000), None, "output_format", "AAC cannot hold 7000 Hz"),
        (AudioForm("ulaw", rate_hz=16_000), None, "output_format", "ulaw cannot hold 16000 Hz"),
        (AudioForm("alaw", channels=2), None, "output_format", "not written in 2 channels"),
        (AudioForm("wav16", channels=3), None, "output_format", "not written in 3 channels"),
        (AudioForm("pcm", rate_hz=1), None, "output_format", "choose 4000 to 192000 Hz"),
        (AudioForm("flac", rate_hz=400_000), None, "output_format", "choose 4000 to 192000 Hz"),
    ],
)
def test_what_there_is_not_is_refused(
    form: AudioForm, made_hz: int | None, field: str, sentence: str
) -> None:
    with pytest.raises(InvalidRequest, match=sentence) as refused:
        form.check(made_hz)
    assert refused.value.field == field


def test_another_rate_makes_up_for_one_that_the_codec_lacks() -> None:
    AudioForm("opus", rate_hz=48_000).check(44_100)
    AudioForm("ulaw").check(48_000)


def test_without_ffmpeg_the_refusal_of_aac_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    AudioForm("mp3").check()
    with pytest.raises(InvalidRequest) as refused:
        AudioForm("aac").check()
    assert refused.value.field == "output_format"
    assert str(refused.value).endswith(INSTALLATION)
    assert "in the server's folder and restart" in INSTALLATION


@pytest.mark.parametrize(
    ("form", "held"),
    [
        (AudioForm("flac"), (48_000, 2)),
        (AudioForm("pcm", rate_hz=16_000), (16_000, 2)),
        (AudioForm("wav16", channels=1), (48_000, 1)),
        (AudioForm("ulaw"), (8_000, 1)),
    ],
)
def test_rate_and_channels_are_those_of_the_samples_unless_named(
    form: AudioForm, held: tuple[int, int]
) -> None:
    assert form.held(48_000, 2) == held
