"""ElevenLabs' codes for forms of audio."""

from typing import get_args

import pytest
from elevenlabs.music.types import MusicComposeRequestOutputFormat

from engine.audio import AudioForm
from engine.errors import InvalidRequest
from server.compatible.music_formats import AUTO, FORMS, audio_form

THEIRS = get_args(get_args(MusicComposeRequestOutputFormat)[0])


def test_every_code_that_the_official_package_names_is_there() -> None:
    assert {AUTO, *FORMS} == set(THEIRS)


@pytest.mark.parametrize("code", FORMS)
def test_every_code_is_a_form_that_can_be_made(code: str) -> None:
    form = audio_form(code, "mp3_44100_128")
    form.check(48_000)
    codec, rate = code.split("_")[:2]
    assert (form.codec, form.held(48_000, 2)[0]) == (codec, int(rate))


def test_240_kbit_a_second_are_256_since_mp3_has_no_240() -> None:
    assert audio_form("mp3_48000_240", "") == AudioForm("mp3", 256, 48_000)


@pytest.mark.parametrize("code", ["", "auto"])
def test_without_a_code_the_form_is_the_models(code: str) -> None:
    assert audio_form(code, "mp3_48000_192") == AudioForm("mp3", 192, 48_000)


def test_an_unknown_code_is_refused_with_those_there_are() -> None:
    with pytest.raises(InvalidRequest, match="choose one of: auto, mp3_48000_128") as refused:
        audio_form("mp3_11025_8", "mp3_44100_128")
    assert refused.value.field == "output_format"
