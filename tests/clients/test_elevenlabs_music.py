"""ElevenLabs' Python client makes music: songs in several forms, with details, from plans, in a stream."""

import asyncio
import base64
import json
import re
from itertools import accumulate
from typing import Any

import httpx
import pytest
from elevenlabs import GenerationChunkInput, MusicPrompt, SongSection
from elevenlabs.client import AsyncElevenLabs, ElevenLabs
from elevenlabs.core import ApiError
from elevenlabs.types import CompositionPlan, DetailedMusicResponse
from pydantic import TypeAdapter

from engine.score import parse, timeline
from server.compatible.music_formats import FORMS
from tests.clients.heard import A_LAW, MU, Heard, hear, hear_raw
from tests.clients.sse import events
from tests.clients.studio import Studio
from tests.clients.texts import words

pytestmark = pytest.mark.runtime
PROMPT = "A calm piano piece with soft strings, 80 BPM"
LINES = ["The river runs below the town", "and every light is going down"]
PLAN = MusicPrompt(
    positive_global_styles=["folk", "acoustic guitar", "100 BPM"],
    negative_global_styles=["heavy metal"],
    sections=[
        SongSection(
            section_name="Verse 1",
            positive_local_styles=["soft"],
            negative_local_styles=[],
            duration_ms=9000,
            lines=LINES,
        ),
        SongSection(
            section_name="Outro",
            positive_local_styles=["fading"],
            negative_local_styles=["drums"],
            duration_ms=5000,
            lines=[],
        ),
    ],
)


def typed(kind: Any, answer: object) -> Any:
    """The client builds its objects without looking; this looks: every required key, each of its type."""
    return TypeAdapter(kind).validate_python(answer)


def newest(studio: Studio) -> dict[str, Any]:
    """The job that was accepted last."""
    return studio.job(studio.gate.accepted[-1])


def sung_of(replay: dict[str, Any]) -> list[str]:
    """The words that a replay sings, without the headings of its sections."""
    return words(re.sub(r"\[.*?\]", "", replay["lyrics"]))


# Of each code: codec, rate in Hz, least and most kbit/s. Bare samples tell nothing of themselves.
CODES = {
    "mp3_44100_128": ("mp3", 44_100, 124, 132),
    "mp3_22050_32": ("mp3", 22_050, 31, 34),
    "mp3_48000_192": ("mp3", 48_000, 186, 198),
    "opus_48000_96": ("opus", 48_000, 30, 140),
}


@pytest.mark.parametrize("code", CODES)
def test_a_code_of_a_format_is_what_comes(eleven: ElevenLabs, studio: Studio, code: str) -> None:
    before = studio.jobs
    audio = b"".join(
        eleven.music.compose(prompt=PROMPT, music_length_ms=6000, force_instrumental=True, output_format=code)
    )
    heard = hear(audio)
    codec, rate_hz, least, most = CODES[code]
    assert (heard.codec.removesuffix("float"), heard.rate_hz) == (codec, rate_hz)
    assert least < heard.bitrate_kbps < most
    assert heard.seconds == pytest.approx(6, abs=1)
    assert heard.loudness > 0.01
    assert studio.jobs == before + 1
    assert audio == studio.track(newest(studio)["id"])


@pytest.mark.parametrize(
    ("code", "rate_hz", "codec"), [("pcm_16000", 16_000, "pcm_s16le"), ("ulaw_8000", 8000, MU)]
)
def test_bare_samples_last_as_long_as_the_song(
    eleven: ElevenLabs, studio: Studio, code: str, rate_hz: int, codec: str
) -> None:
    audio = b"".join(
        eleven.music.compose(prompt=PROMPT, music_length_ms=6000, force_instrumental=True, output_format=code)
    )
    seconds = newest(studio)["tracks"]["items"][0]["seconds"]
    width = 1 if codec == MU else 2
    channels = round(len(audio) / width / rate_hz / seconds)
    assert channels in ((1,) if codec == MU else (1, 2))
    heard = hear_raw(audio, rate_hz, channels, codec)
    assert heard.seconds == pytest.approx(seconds, abs=0.02)
    assert heard.seconds == pytest.approx(6, abs=1)
    assert 0.01 < heard.loudness < 0.5


@pytest.mark.parametrize(("model", "rate_hz"), [("music_v1", 44_100), ("music_v2", 48_000)])
def test_without_a_code_comes_what_the_model_has(eleven: ElevenLabs, model: str, rate_hz: int) -> None:
    audio = b"".join(
        eleven.music.compose(prompt=PROMPT, music_length_ms=5000, model_id=model, force_instrumental=True)
    )
    heard = hear(audio)
    assert (heard.container, heard.rate_hz) == ("mp3", rate_hz)


def test_a_stream_is_a_song_too(eleven: ElevenLabs, studio: Studio) -> None:
    before = studio.jobs
    pieces = list(eleven.music.stream(prompt=PROMPT, music_length_ms=5000, force_instrumental=True))
    heard: Heard = hear(b"".join(pieces))
    assert heard.container == "mp3"
    assert heard.seconds == pytest.approx(5, abs=1)
    assert studio.jobs == before + 1


def test_a_song_comes_with_its_plan_and_its_words(eleven: ElevenLabs, studio: Studio) -> None:
    before = studio.jobs
    song = eleven.music.compose_detailed(
        composition_plan=PLAN, with_timestamps=True, output_format="mp3_44100_128"
    )
    details = typed(DetailedMusicResponse, song.json)
    plan = typed(MusicPrompt, song.json["composition_plan"])
    assert [section.section_name for section in plan.sections] == ["Verse 1", "Outro"]
    assert plan.sections[0].lines == LINES
    assert details.words_timestamps is not None
    sung = details.words_timestamps
    assert words(" ".join(word.word for word in sung)) == words(" ".join(LINES))
    assert all(0 <= word.start_ms < word.end_ms for word in sung)
    assert song.filename.endswith(".mp3")
    assert studio.jobs == before + 1
    job = newest(studio)
    assert song.song_id == job["id"]
    assert hear(song.audio).seconds == pytest.approx(job["tracks"]["items"][0]["seconds"], abs=0.1)
    assert hear(song.audio).seconds * 1000 == pytest.approx(14_000, rel=0.25)
    replay = studio.native.get("/job", params={"id": job["id"], "replay": 0}).json()
    assert re.findall(r"\[(\w+)", replay["lyrics"]) == ["Verse", "Outro"]
    assert sung_of(replay) == words(" ".join(LINES))
    assert "acoustic guitar" in replay["style"]


def test_the_asynchronous_client_composes_too(studio: Studio) -> None:
    async def compose() -> tuple[bytes, bytes, str | None]:
        async with httpx.AsyncClient(timeout=240) as http:
            client = AsyncElevenLabs(base_url=studio.url, api_key="none", httpx_client=http)
            pieces = client.music.compose(prompt=PROMPT, music_length_ms=4000, force_instrumental=True)
            audio = b"".join([piece async for piece in pieces])
            song = await client.music.compose_detailed(
                prompt=PROMPT, music_length_ms=4000, force_instrumental=True
            )
            return audio, song.audio, song.song_id

    before = studio.jobs
    audio, detailed, song_id = asyncio.run(compose())
    assert hear(audio).seconds == pytest.approx(4, abs=1)
    assert hear(detailed).seconds == pytest.approx(4, abs=1)
    assert studio.jobs == before + 2
    assert song_id == newest(studio)["id"]


@pytest.mark.parametrize("model", ["music_v1", "music_v2"])
def test_a_plan_is_made_without_a_job_and_can_be_composed(
    eleven: ElevenLabs, studio: Studio, model: str
) -> None:
    before = studio.jobs
    plan = eleven.music.composition_plan.create(prompt=PROMPT, music_length_ms=12_000, model_id=model)
    assert studio.jobs == before
    assert isinstance(plan, MusicPrompt if model == "music_v1" else CompositionPlan)
    typed(type(plan), plan.model_dump())
    parts = plan.sections if isinstance(plan, MusicPrompt) else plan.chunks
    lasts = [part.duration_ms for part in parts if isinstance(part, SongSection | GenerationChunkInput)]
    assert sum(lasts) == 12_000
    assert len(lasts) == len(parts)
    assert all(3000 <= last <= 120_000 for last in lasts)
    song = b"".join(eleven.music.compose(composition_plan=plan, model_id=model))
    assert hear(song).seconds == pytest.approx(12, rel=0.3)
    assert studio.jobs == before + 1


def test_a_plan_of_chunks_is_sung(eleven: ElevenLabs, studio: Studio) -> None:
    text = "\n".join(["[Verse 1]", *LINES])
    plan = CompositionPlan(
        chunks=[GenerationChunkInput(text=text, duration_ms=9000, positive_styles=["folk", "90 BPM"])]
    )
    audio = b"".join(eleven.music.compose(composition_plan=plan, model_id="music_v2"))
    assert hear(audio).loudness > 0.01
    replay = studio.native.get("/job", params={"id": newest(studio)["id"], "replay": 0}).json()
    assert sung_of(replay) == words(" ".join(LINES))


def test_a_song_with_its_details_comes_as_events(studio: Studio) -> None:
    """Read by another reader: their client drops every line of server-sent events that is not JSON as it stands."""
    asked = {"prompt": PROMPT, "music_length_ms": 5000, "force_instrumental": True}
    answer = studio.native.post("/v1/music/detailed/stream", json=asked)
    assert answer.headers["content-type"].partition(";")[0] == "text/event-stream"
    told = [json.loads(event.text) for event in events([answer.content])]
    plan = next(event["data"] for event in told if event["event"] == "composition_plan")
    typed(MusicPrompt, plan)
    chunks = [event["data"] for event in told if event["event"] == "audio_chunk"]
    audio = b"".join(base64.b64decode(chunk, validate=True) for chunk in chunks)
    assert audio == studio.track(answer.headers["song-id"])
    assert hear(audio).seconds == pytest.approx(5, abs=1)


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"prompt": PROMPT, "composition_plan": PLAN}, "composition_plan"),
        ({}, "prompt"),
        ({"prompt": PROMPT, "music_length_ms": 2000}, "music_length_ms"),
        ({"prompt": PROMPT, "output_format": "mp3_11025_8"}, "output_format"),
        ({"prompt": PROMPT, "finetune_id": "abc"}, "finetune_id"),
    ],
)
def test_what_cannot_be_is_refused_in_their_form(
    eleven: ElevenLabs, studio: Studio, fields: dict[str, Any], param: str
) -> None:
    before = studio.jobs
    with pytest.raises(ApiError) as refused:
        b"".join(eleven.music.compose(**fields))
    assert refused.value.status_code == 400
    assert isinstance(refused.value.body, dict)
    detail = refused.value.body["detail"]
    assert detail.keys() >= {"type", "code", "status", "message", "request_id", "param"}
    assert detail["param"] == param
    assert studio.jobs == before


# Of the codes by their own names: MP3 has no 240 kbit/s; of samples without a head the channels and what they are.
KBPS = {240: 256}
RAW = {"pcm": (2, "pcm_s16le"), "ulaw": (1, MU), "alaw": (1, A_LAW)}


@pytest.mark.parametrize("code", FORMS)
def test_every_code_is_decoded_and_measured(eleven: ElevenLabs, studio: Studio, code: str) -> None:
    pieces = eleven.music.compose(
        prompt="pop, happy", music_length_ms=3_000, force_instrumental=True, seed=5, output_format=code
    )
    audio = b"".join(pieces)
    seconds = newest(studio)["tracks"]["items"][0]["seconds"]
    codec, rate, *bitrate = code.split("_")
    if codec in RAW:
        heard = hear_raw(audio, int(rate), *RAW[codec])
    else:
        heard = hear(audio)
        wanted = KBPS.get(int(bitrate[0]), int(bitrate[0]))
        least = 0.9 * wanted if codec == "mp3" else 0.2 * wanted  # Opus takes what the sound needs
        assert least < heard.bitrate_kbps < 1.25 * wanted + 8
        assert (heard.codec.removesuffix("float"), heard.channels) == (codec, 2)
    assert heard.rate_hz == int(rate)
    assert heard.seconds == pytest.approx(seconds, abs=0.12)
    assert seconds == 3
    assert 0.01 < heard.loudness < 0.5


def test_sections_last_as_long_as_the_plan_says_to_half_a_bar(eleven: ElevenLabs, studio: Studio) -> None:
    sections = [
        SongSection(
            section_name=name, duration_ms=time, lines=[], positive_local_styles=[], negative_local_styles=[]
        )
        for name, time in (("Intro", 7_000), ("Verse", 13_000), ("Outro", 9_000))
    ]
    plan = MusicPrompt(positive_global_styles=["pop"], negative_global_styles=[], sections=sections)
    song = eleven.music.compose_detailed(composition_plan=plan, seed=3)
    told = typed(MusicPrompt, song.json["composition_plan"])
    ends = [*accumulate(section.duration_ms for section in told.sections)]
    assert ends == pytest.approx([7_000, 20_000, 29_000], abs=1_100)
    assert hear(song.audio).seconds == pytest.approx(29, abs=0.1)
    replay = studio.native.get("/job", params={"id": song.song_id, "replay": 0}).json()
    starts = [round(1000 * start) for _, start, _ in timeline(parse(replay["abc"])).sections]
    assert [0, *ends[:-1]] == starts
