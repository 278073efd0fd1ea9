"""What a call of OpenAI's speech asks for, and which native request it becomes."""

import pytest

from engine.errors import InvalidRequest, MissingInput
from server.compatible.speech import SpeechCall, read_speech_call, song_of, speech_of
from storage.entry import JSON

CALL: dict[str, JSON] = {"model": "tts-1", "input": "Hello there.", "voice": "alloy"}


def refused(**changes: JSON) -> InvalidRequest:
    with pytest.raises(InvalidRequest) as caught:
        read_speech_call(CALL | changes)
    return caught.value


def test_the_least_that_a_client_sends() -> None:
    call = read_speech_call(CALL)
    assert call == SpeechCall(model="tts-1", input="Hello there.", voice="alloy")
    assert (call.response_format, call.stream_format, call.speed, call.instructions) == (
        "mp3",
        "audio",
        1,
        "",
    )


def test_null_and_fields_of_other_servers_count_as_left_out() -> None:
    empty: dict[str, JSON] = dict.fromkeys(
        ("voice", "instructions", "response_format", "speed", "stream_format")
    )
    assert read_speech_call(CALL | empty) == SpeechCall(model="tts-1", input="Hello there.")
    assert read_speech_call(CALL | {"volume_multiplier": 2, "lang_code": ["x"]}) == read_speech_call(CALL)


def test_a_voice_may_be_an_object_and_a_speed_whole() -> None:
    call = read_speech_call(CALL | {"voice": {"id": "heart", "name": "Heart"}, "speed": 2})
    assert (call.voice, call.speed) == ("heart", 2.0)


@pytest.mark.parametrize("blank", [None, "", " \n"])
def test_the_input_must_be_sent_and_a_model_need_not(blank: str | None) -> None:
    error = refused(input=blank)
    assert isinstance(error, MissingInput)
    assert error.field == "input"
    assert "the text to say, or the lyrics to sing" in str(error)
    assert read_speech_call(CALL | {"model": blank}).model == ""


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("input", 3, "input must be text; you sent 3."),
        ("input", "a\0b", "input must not contain the NUL character; remove it."),
        ("model", ["tts-1"], "model must be text; you sent a list."),
        ("voice", 7, "voice must be text; you sent 7."),
        (
            "voice",
            {"name": "heart"},
            'voice must be the name of a voice, or an object such as {"id": "heart"}.',
        ),
        ("instructions", "a" * 4097, "instructions must have at most 4096 characters; you sent 4097."),
        (
            "response_format",
            "ogg",
            'response_format must be one of mp3, opus, aac, flac, wav, pcm; you sent "ogg".',
        ),
        ("stream_format", "json", 'stream_format must be one of audio, sse; you sent "json".'),
        ("speed", 0.24, "speed must be between 0.25 and 4.0; you sent 0.24."),
        ("speed", 4.01, "speed must be between 0.25 and 4.0; you sent 4.01."),
        ("speed", "1.0", 'speed must be a number; you sent "1.0".'),
        ("speed", True, "speed must be a number; you sent true."),
    ],
)
def test_a_known_field_with_a_bad_value_is_refused_by_name(field: str, value: JSON, told: str) -> None:
    error = refused(**{field: value})
    assert (error.field, str(error)) == (field, told)


@pytest.mark.parametrize(
    ("name", "content_type", "codec", "replayed"),
    [
        ("mp3", "audio/mpeg", "mp3", "mp3"),
        ("opus", "audio/ogg; codecs=opus", "opus", "opus"),
        ("aac", "audio/aac", "aac", "mp3"),
        ("flac", "audio/flac", "flac", "flac"),
        ("wav", "audio/wav", "wav16", "wav16"),
        ("pcm", "audio/pcm", "pcm", "wav16"),
    ],
)
def test_every_format_has_its_form(name: str, content_type: str, codec: str, replayed: str) -> None:
    call = read_speech_call(CALL | {"response_format": name})
    assert (call.form.content_type, call.form.codec) == (content_type, codec)
    rate = (24_000, 1) if name == "pcm" else (None, None)
    assert (call.form.rate_hz, call.form.channels) == rate
    assert speech_of(call, "", "").output_format == replayed
    assert song_of(call, "sketch").output_format == replayed


def test_a_call_becomes_speech() -> None:
    call = read_speech_call(CALL | {"speed": 1.5, "instructions": "Whisper."})
    asked = speech_of(call, "hibari", "heart")
    assert (asked.model, asked.text, asked.voice, asked.speed) == ("hibari", "Hello there.", "heart", 1.5)


@pytest.mark.parametrize("speed", [0.25, 4])
def test_every_speed_that_may_be_asked_for_can_be_had(speed: float) -> None:
    assert speech_of(read_speech_call(CALL | {"speed": speed}), "", "").speed == speed


@pytest.mark.parametrize(("field", "most"), [("input", 100_000), ("voice", 100)])
def test_too_long_a_text_is_told_in_the_callers_words(field: str, most: int) -> None:
    call = read_speech_call(CALL | {field: "x" * (most + 1)})
    with pytest.raises(InvalidRequest, match=rf"^{field} must have at most {most} characters") as caught:
        speech_of(call, "", call.voice)
    assert caught.value.field == field


def test_a_call_becomes_one_song() -> None:
    call = read_speech_call(CALL | {"input": "[Verse]\nLa la", "instructions": "folk, slow"})
    asked = song_of(call, "sketch")
    assert (asked.model, asked.lyrics, asked.style) == ("sketch", "[Verse]\nLa la", "folk, slow")
    assert (asked.lm_batch_size, asked.synth_batch_size) == (1, 1)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"speed": 1.5}, "speed"),
        ({"input": "x" * 32_001}, "input"),
        ({"instructions": "x" * 4_001}, "instructions"),
    ],
)
def test_what_no_song_can_be_is_told_in_the_callers_words(changes: dict[str, JSON], field: str) -> None:
    call = read_speech_call(CALL | changes)
    with pytest.raises(InvalidRequest, match=f"{field}") as caught:
        song_of(call, "sketch")
    assert caught.value.field == field
