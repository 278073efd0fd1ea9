"""OpenAI's Python client listens: every form of a transcript, typed by the client and parsed by another library."""

import asyncio
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import openai
import pysubs2
import pytest
from openai.types.audio import (
    Transcription,
    TranscriptionTextDeltaEvent,
    TranscriptionTextDoneEvent,
    TranscriptionVerbose,
    TranslationVerbose,
)
from pydantic import TypeAdapter

from engine.catalogue import Catalogue
from tests.clients.heard import hear
from tests.clients.studio import Studio, serving
from tests.clients.texts import is_understood
from tests.server.sound_doubles import TranscriptionDouble

pytestmark = pytest.mark.runtime
PATH = "/v1/audio/transcriptions"
SEGMENT_KEYS = {"id", "seek", "start", "end", "text", "tokens", "temperature", "avg_logprob", "compression_ratio", "no_speech_prob"}  # fmt: skip


def as_typed(kind: type[Any], answer: object) -> None:
    """The client builds its objects without looking; this looks: every required key, each of its type."""
    TypeAdapter(kind).validate_python(answer, strict=False)


def file_of(audio: bytes) -> tuple[str, bytes]:
    return ("speech.flac", audio)


@pytest.fixture(scope="module")
def translating(tmp_path_factory: pytest.TempPathFactory) -> Iterator[openai.OpenAI]:
    """A client of a server with a double that hears how long a file is, and translates."""
    models = Catalogue(transcription=[TranscriptionDouble()])
    with (
        serving(tmp_path_factory.mktemp("translating"), models) as running,
        openai.OpenAI(base_url=f"{running.url}/v1", api_key="none", max_retries=0) as client,
    ):
        yield client


def test_json_is_the_text_and_what_was_used(client: openai.OpenAI, spoken: bytes) -> None:
    raw = client.audio.transcriptions.with_raw_response.create(model="whisper-1", file=file_of(spoken))
    answer = raw.parse()
    assert isinstance(answer, Transcription)
    assert is_understood(answer.text)
    body = raw.http_response.json()
    as_typed(Transcription, body)
    assert body["usage"]["type"] == "duration"
    assert body["usage"]["seconds"] == pytest.approx(hear(spoken).seconds, abs=1)
    assert len(raw.headers["x-yue2-job-id"]) == 16


@pytest.mark.parametrize("form", ["text", "srt", "vtt"])
def test_plain_forms_are_strings(
    client: openai.OpenAI, spoken: bytes, form: Literal["text", "srt", "vtt"]
) -> None:
    raw = client.audio.transcriptions.with_raw_response.create(
        model="whisper-1", file=file_of(spoken), response_format=form
    )
    text = raw.parse()
    assert isinstance(text, str)
    types = {"text": ("text/plain",), "srt": ("application/x-subrip", "text/plain"), "vtt": ("text/vtt",)}
    assert raw.headers["content-type"].partition(";")[0] in types[form]
    if form == "text":
        assert is_understood(text)
        return
    subtitles = pysubs2.SSAFile.from_string(text, format_=form)
    assert is_understood(" ".join(line.plaintext for line in subtitles))
    assert all(0 <= line.start < line.end <= hear(spoken).seconds * 1000 + 100 for line in subtitles)
    assert [line.start for line in subtitles] == sorted(line.start for line in subtitles)


def test_verbose_json_has_every_key_of_a_segment(client: openai.OpenAI, spoken: bytes) -> None:
    raw = client.audio.transcriptions.with_raw_response.create(
        model="whisper-1", file=file_of(spoken), response_format="verbose_json"
    )
    answer, body = raw.parse(), raw.http_response.json()
    assert isinstance(answer, TranscriptionVerbose)
    as_typed(TranscriptionVerbose, body)
    assert (body["task"], body["language"]) == ("transcribe", "english")
    assert body["duration"] == pytest.approx(hear(spoken).seconds, abs=0.05)
    assert body["segments"]
    assert all(segment.keys() >= SEGMENT_KEYS for segment in body["segments"])
    assert is_understood(" ".join(segment["text"] for segment in body["segments"]))
    assert not body.get("words")


def test_words_come_where_they_are_asked_for(client: openai.OpenAI, spoken: bytes) -> None:
    answer = client.audio.transcriptions.create(
        model="whisper-1",
        file=file_of(spoken),
        response_format="verbose_json",
        timestamp_granularities=["word", "segment"],
        language="en",
        temperature=0.0,
    )
    assert answer.words is not None
    assert is_understood(" ".join(word.word for word in answer.words))
    assert all(0 <= word.start <= word.end <= answer.duration + 0.1 for word in answer.words)
    assert answer.segments


def test_words_alone_leave_the_segments_out(translating: openai.OpenAI, spoken: bytes) -> None:
    answer = translating.audio.transcriptions.create(
        model="whisper-1",
        file=file_of(spoken),
        response_format="verbose_json",
        timestamp_granularities=["word"],
    )
    assert answer.words is not None
    assert [word.word for word in answer.words] == ["bytes:", str(len(spoken))]
    assert answer.segments is None


def test_a_stream_is_the_text_piece_by_piece(client: openai.OpenAI, spoken: bytes) -> None:
    stream = client.audio.transcriptions.create(
        model="gpt-4o-mini-transcribe", file=file_of(spoken), stream=True
    )
    assert stream.response.headers["content-type"].partition(";")[0] == "text/event-stream"
    *deltas, done = stream
    assert deltas
    assert all(isinstance(event, TranscriptionTextDeltaEvent) for event in deltas)
    assert isinstance(done, TranscriptionTextDoneEvent)
    for event in (*deltas, done):
        as_typed(type(event), event.model_dump(exclude_unset=True, warnings=False))
    joined = "".join(event.delta for event in deltas if isinstance(event, TranscriptionTextDeltaEvent))
    assert joined == done.text
    assert is_understood(done.text)


def test_the_asynchronous_client_listens_too(translating: openai.OpenAI, spoken: bytes) -> None:
    async def listen() -> tuple[str, str]:
        async with openai.AsyncOpenAI(base_url=str(translating.base_url), api_key="none") as client:
            whole = await client.audio.transcriptions.create(model="gpt-4o-transcribe", file=file_of(spoken))
            stream = await client.audio.transcriptions.create(
                model="gpt-4o-transcribe", file=file_of(spoken), stream=True
            )
            pieces = [event.delta async for event in stream if event.type == "transcript.text.delta"]
            return whole.text, "".join(pieces)

    assert asyncio.run(listen()) == (f"bytes: {len(spoken)}",) * 2


def test_a_file_goes_as_a_path_and_as_an_open_file(
    translating: openai.OpenAI, spoken: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "speech.flac"
    path.write_bytes(spoken)
    named = io.BytesIO(spoken)
    named.name = "speech.flac"
    with path.open("rb") as opened:
        for file in (path, opened, named):
            answer = translating.audio.transcriptions.create(model="whisper-1", file=file)
            assert answer.text == f"bytes: {len(spoken)}"


@pytest.mark.parametrize(
    ("changed", "param"),
    [
        ({"response_format": "diarized_json"}, "response_format"),
        ({"response_format": "pdf"}, "response_format"),
        ({"language": "klingon"}, "language"),
        ({"temperature": 2.0}, "temperature"),
        ({"include": ["logprobs"]}, "include"),
        ({"timestamp_granularities": ["syllable"]}, "timestamp_granularities"),
    ],
)
def test_what_cannot_be_done_is_refused_by_name(
    client: openai.OpenAI, studio: Studio, spoken: bytes, changed: dict[str, Any], param: str
) -> None:
    before = studio.jobs
    fields: dict[str, Any] = (
        {"response_format": "verbose_json"} if "timestamp_granularities" in changed else {}
    )
    with pytest.raises(openai.BadRequestError) as refused:
        client.audio.transcriptions.create(model="whisper-1", file=file_of(spoken), **fields | changed)
    assert (refused.value.param or "").removesuffix("[]") == param
    assert studio.jobs == before


def test_what_is_no_audio_is_refused(client: openai.OpenAI) -> None:
    with pytest.raises(openai.BadRequestError) as refused:
        client.audio.transcriptions.create(model="whisper-1", file=("speech.mp3", b"no audio at all" * 99))
    assert refused.value.param == "file"


@pytest.mark.parametrize(
    "fields",
    [
        {"chunking_strategy": "auto", "stream": False},
        {"chunking_strategy": {"type": "server_vad", "threshold": 0.5, "prefix_padding_ms": 300}},
        {"extra_body": {"keywords": ["train", "bridge"], "hotwords": "river"}},
        {"model": "gpt-4o-mini-transcribe-2025-12-15", "prompt": "A walk.", "temperature": 1},
    ],
    ids=["a strategy", "a strategy's parts", "what other servers know", "a dated model"],
)
def test_fields_that_change_nothing_here_do_no_harm(
    translating: openai.OpenAI, spoken: bytes, fields: dict[str, Any]
) -> None:
    asked: dict[str, Any] = {"model": "whisper-1", "file": file_of(spoken), **fields}
    assert translating.audio.transcriptions.create(**asked).text == f"bytes: {len(spoken)}"


def test_a_file_that_is_too_large_is_refused_before_it_is_sent(translating: openai.OpenAI) -> None:
    large = bytes(65 << 20)
    with pytest.raises(openai.APIStatusError) as refused:
        translating.audio.transcriptions.create(model="whisper-1", file=("large.wav", large))
    assert (refused.value.status_code, refused.value.code) == (413, "body_too_large")


def test_the_built_in_model_says_that_it_does_not_translate(
    client: openai.OpenAI, studio: Studio, spoken: bytes
) -> None:
    before = studio.jobs
    with (
        pytest.raises(openai.BadRequestError) as refused,
        pytest.warns(DeprecationWarning, match="deprecated"),
    ):
        client.audio.translations.create(model="whisper-1", file=file_of(spoken))
    assert "translat" in refused.value.message.lower()
    assert studio.jobs == before


def translated(client: openai.OpenAI, audio: bytes, **fields: Any) -> Any:
    with pytest.warns(DeprecationWarning, match="deprecated"):  # which the client says of the whole call
        return client.audio.translations.create(model="whisper-1", file=file_of(audio), **fields)


def test_a_model_that_translates_does(translating: openai.OpenAI, spoken: bytes) -> None:
    text = f"bytes: {len(spoken)}"
    assert translated(translating, spoken).text == text
    assert str(translated(translating, spoken, response_format="text")).strip() == text
    srt = str(translated(translating, spoken, response_format="srt"))
    assert pysubs2.SSAFile.from_string(srt, format_="srt")[0].plaintext == text
    verbose = translated(translating, spoken, response_format="verbose_json")
    as_typed(TranslationVerbose, verbose.model_dump(exclude_unset=True, warnings=False))
    assert (verbose.language, verbose.text) == ("english", text)
    assert verbose.segments[0].model_dump(exclude_unset=True).keys() >= SEGMENT_KEYS
