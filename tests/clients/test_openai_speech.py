"""OpenAI's Python client speaks: each format decoded by another library, streams, events, voices and songs."""

import asyncio
import base64
import json
from typing import Final, Literal

import openai
import pytest
from openai.types.audio.speech_create_params import VoiceID

from tests.clients.heard import Heard, as_wav, hear, hear_raw
from tests.clients.sse import events
from tests.clients.studio import Studio
from tests.clients.texts import TEXT, is_understood

pytestmark = pytest.mark.runtime
Form = Literal["mp3", "opus", "aac", "flac", "wav", "pcm"]
# Of each: content type, codec, container and rate in Hz as FFmpeg tells them.
FORMS: Final[dict[Form, tuple[str, str, str, int]]] = {
    "mp3": ("audio/mpeg", "mp3", "mp3", 24_000),
    "opus": ("audio/ogg", "opus", "ogg", 48_000),
    "aac": ("audio/aac", "aac", "aac", 24_000),
    "flac": ("audio/flac", "flac", "flac", 24_000),
    "wav": ("audio/wav", "pcm_s16le", "wav", 24_000),
    "pcm": ("audio/pcm", "pcm_s16le", "s16le", 24_000),
}
LISTENED_TO: Final = ("mp3", "aac", "pcm")  # which takes time
LYRICS = "[Verse]\nThe river runs below the town\nand every light is going down\n"
SHORT = "Good evening."


def heard_as(form: Form, audio: bytes) -> Heard:
    return hear_raw(audio, 24_000, 1) if form == "pcm" else hear(audio)


@pytest.mark.parametrize("form", FORMS)
def test_each_format_is_what_it_says_and_is_understood(
    client: openai.OpenAI, studio: Studio, form: Form
) -> None:
    made = client.audio.speech.with_raw_response.create(
        model="tts-1", voice="alloy", input=TEXT, response_format=form
    )
    audio, job_id = made.content, made.headers["x-yue2-job-id"]
    heard = heard_as(form, audio)
    codec = heard.codec.removesuffix("float")
    told = made.headers["content-type"].partition(";")[0]
    assert (told, codec, heard.container, heard.rate_hz) == FORMS[form]
    assert heard.channels == 1
    assert heard.seconds == pytest.approx(studio.job(job_id)["tracks"]["items"][0]["seconds"], abs=0.12)
    assert audio == studio.result(job_id)
    if form in LISTENED_TO:
        file = ("speech.wav", as_wav(heard)) if form == "pcm" else (f"speech.{form}", audio)
        assert is_understood(client.audio.transcriptions.create(model="whisper-1", file=file).text)


def test_mp3_is_what_is_made_where_no_format_is_named(client: openai.OpenAI) -> None:
    assert (
        hear(client.audio.speech.create(model="tts-1", voice="alloy", input=SHORT).read()).container == "mp3"
    )


def test_the_asynchronous_client_speaks_too(studio: Studio) -> None:
    async def speak() -> bytes:
        async with openai.AsyncOpenAI(base_url=f"{studio.url}/v1", api_key="none") as client:
            made = await client.audio.speech.create(
                model="gpt-4o-mini-tts", voice="nova", input=SHORT, response_format="wav"
            )
            return await made.aread()

    heard = hear(asyncio.run(speak()))
    assert (heard.codec, heard.rate_hz, heard.channels) == ("pcm_s16le", 24_000, 1)
    assert 0.4 < heard.seconds < 3
    assert heard.loudness > 0.01


def test_a_stream_holds_what_is_stored(client: openai.OpenAI, studio: Studio) -> None:
    with client.audio.speech.with_streaming_response.create(
        model="tts-1", voice="alloy", input=TEXT, response_format="pcm"
    ) as made:
        assert made.headers["content-type"].startswith("audio/pcm")
        job_id = made.headers["x-yue2-job-id"]
        audio = b"".join(made.iter_bytes())
    assert audio == studio.result(job_id)
    assert hear_raw(audio, 24_000, 1).seconds > 3


def test_the_asynchronous_client_streams_too(studio: Studio) -> None:
    async def stream() -> tuple[str, bytes]:
        async with (
            openai.AsyncOpenAI(base_url=f"{studio.url}/v1", api_key="none") as client,
            client.audio.speech.with_streaming_response.create(
                model="tts-1", voice="alloy", input=SHORT, response_format="opus"
            ) as made,
        ):
            return made.headers["x-yue2-job-id"], b"".join([chunk async for chunk in made.iter_bytes()])

    job_id, audio = asyncio.run(stream())
    assert audio == studio.result(job_id)
    assert hear(audio).codec == "opus"


@pytest.mark.parametrize("form", ["mp3", "pcm"])
def test_events_carry_the_audio_and_end_after_it_is_stored(
    client: openai.OpenAI, studio: Studio, form: Form
) -> None:
    with client.audio.speech.with_streaming_response.create(
        model="gpt-4o-mini-tts", voice="alloy", input=TEXT, response_format=form, stream_format="sse"
    ) as made:
        assert made.headers["content-type"].partition(";")[0] == "text/event-stream"
        job_id = made.headers["x-yue2-job-id"]
        status = ""
        seen = []
        for event in events(made.iter_bytes()):
            seen.append(json.loads(event.text))
            if seen[-1]["type"] == "speech.audio.done":
                status = studio.job(job_id)["status"]
    *deltas, done = seen
    assert status == "done"
    assert {(event["type"], *sorted(event.keys() - {"type"})) for event in deltas} == {
        ("speech.audio.delta", "audio")
    }
    assert (done["type"], done.keys()) == ("speech.audio.done", {"type", "usage"})
    usage = done["usage"]
    assert usage.keys() == {"input_tokens", "output_tokens", "total_tokens"}
    assert usage["total_tokens"] == usage["input_tokens"] + usage["output_tokens"] > 0
    audio = b"".join(base64.b64decode(event["audio"], validate=True) for event in deltas)
    stored = studio.result(job_id)
    # Of an MP3 the first frame tells how long all is, which is not known when it is sent.
    assert (len(audio), audio[-3000:]) == (len(stored), stored[-3000:])
    told, kept = heard_as(form, audio), heard_as(form, stored)
    assert told.seconds == pytest.approx(kept.seconds, abs=0.06)
    assert told.seconds > 3
    if form == "pcm":
        assert audio == stored


def test_voices_go_by_name_and_by_id(client: openai.OpenAI, studio: Studio) -> None:
    named = ("alloy", "ash", "ballad", "coral", "echo", "fable", "onyx", "nova", "sage", "shimmer", "verse", "marin", "cedar")  # fmt: skip
    own = next(
        model["voices"][0]["id"]
        for model in studio.native.get("/props").json()["models"]
        if model["kind"] == "speech"
    )
    voices: list[str | VoiceID] = [*named, own, {"id": own}]
    for voice in voices:
        made = client.audio.speech.create(model="tts-1", voice=voice, input="Yes.", response_format="wav")
        assert hear(made.read()).loudness > 0.001
    with pytest.raises(openai.BadRequestError) as refused:
        client.audio.speech.create(model="tts-1", voice="nobody", input=SHORT)
    assert refused.value.param == "voice"
    assert own in refused.value.message


@pytest.mark.parametrize(("speed", "least", "most"), [(0.5, 1.7, 2.3), (2.0, 0.4, 0.6)])
def test_speed_is_followed(
    client: openai.OpenAI, spoken: bytes, speed: float, least: float, most: float
) -> None:
    made = client.audio.speech.create(
        model="tts-1", voice="alloy", input=TEXT, speed=speed, response_format="wav"
    )
    assert least < hear(made.read()).seconds / hear(spoken).seconds < most


def test_instructions_and_unknown_fields_do_no_harm(client: openai.OpenAI) -> None:
    made = client.audio.speech.create(
        model="gpt-4o-mini-tts",
        voice="alloy",
        input=SHORT,
        instructions="Speak in a cheerful and positive tone.",
        extra_body={"lang_code": "a", "normalization_options": {"normalize": True}},
    )
    assert hear(made.read()).loudness > 0.01


def test_a_model_that_sings_takes_lyrics_and_style(client: openai.OpenAI, studio: Studio) -> None:
    made = client.audio.speech.with_raw_response.create(
        model="sketch", voice="alloy", input=LYRICS, instructions="slow ballad, piano", response_format="flac"
    )
    heard = hear(made.content)
    assert (heard.codec, heard.rate_hz, heard.channels) == ("flac", 48_000, 2)
    assert heard.seconds > 5
    assert heard.loudness > 0.01
    job = studio.job(made.headers["x-yue2-job-id"])
    assert (job["operation"], job["model"], job["tracks"]["count"]) == ("synth", "sketch", 1)
    replay = studio.native.get("/job", params={"id": job["id"], "replay": 0}).json()
    assert "river" in replay["lyrics"]
    assert replay["style"] == "slow ballad, piano"


@pytest.mark.parametrize(
    ("changed", "param"),
    [
        ({"response_format": "ogg"}, "response_format"),
        ({"speed": 4.5}, "speed"),
        ({"speed": 0.2}, "speed"),
        ({"stream_format": "ws"}, "stream_format"),
        ({"input": ""}, "input"),
        ({"input": "a" * 100_001}, "input"),
        ({"input": None}, "input"),
        ({"model": 7}, "model"),
        ({"voice": 7}, "voice"),
    ],
)
def test_a_field_that_is_wrong_is_named(
    client: openai.OpenAI, studio: Studio, changed: dict[str, object], param: str
) -> None:
    before = studio.jobs
    with pytest.raises(openai.BadRequestError) as refused:
        client.audio.speech.create(model="tts-1", voice="alloy", input=SHORT, extra_body=changed)
    assert (refused.value.param, refused.value.type) == (param, "invalid_request_error")
    assert refused.value.request_id
    assert studio.jobs == before


@pytest.mark.parametrize("form", [form for form in FORMS if form != "pcm"])
def test_what_was_saved_while_it_was_made_can_be_written_down(client: openai.OpenAI, form: Form) -> None:
    with client.audio.speech.with_streaming_response.create(
        model="tts-1", voice="alloy", input=TEXT, response_format=form
    ) as made:
        assert "content-length" not in made.headers
        saved = b"".join(made.iter_bytes())
    answer = client.audio.transcriptions.create(model="whisper-1", file=(f"speech.{form}", saved))
    assert is_understood(answer.text)
