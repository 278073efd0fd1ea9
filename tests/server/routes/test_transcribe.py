"""`POST /transcribe`, with a double of the listener: forms, bare files, refusals, subtitles."""

import io
import json
import logging
import struct
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from typing import BinaryIO

import numpy as np
import pytest

from engine.audio import AudioForm, encode
from engine.audio.reading import AudioStream, listening
from engine.catalogue import Catalogue
from engine.errors import InvalidRequest
from server import transcription_operations
from server.jobs.errors import QueueFull
from server.limits import MAX_BODY_BYTES, MAX_REQUEST_PART_BYTES
from server.routes import transcribe as uploads_of
from storage.errors import StoreFull
from tests.server.product import Product, product
from tests.server.sound_doubles import TranscriptionDouble

Files = Mapping[str, tuple[str, bytes, str]]


@pytest.fixture(scope="module")
def ear() -> TranscriptionDouble:
    return TranscriptionDouble()


@pytest.fixture(scope="module")
def listener(tmp_path_factory: pytest.TempPathFactory, ear: TranscriptionDouble) -> Iterator[Product]:
    """The product with a double that listens; tests leave its queue empty."""
    with product(tmp_path_factory.mktemp("listener"), catalogue=Catalogue(transcription=[ear])) as running:
        yield running
    assert ear.unloaded == 1


def flac(seconds: float = 0.2) -> bytes:
    sink = io.BytesIO()
    encode(np.full((round(seconds * 16_000), 1), 0.1, np.float32), 16_000, AudioForm("flac"), sink)
    return sink.getvalue()


AUDIO = {"audio": ("talk.flac", flac(), "audio/flac")}


def form(request: object) -> Files:
    text = request if isinstance(request, bytes) else json.dumps(request).encode()
    return AUDIO | {"request": ("request.json", text, "application/json")}


def heard(listener: Product, job_id: str) -> dict[str, object]:
    assert listener.finish(job_id)["status"] == "done"
    answer = listener.client.get("/job", params={"id": job_id, "result": 1})
    assert answer.headers["content-type"] == "application/json"
    return dict(answer.json())


def test_a_file_and_a_form_are_heard_alike(listener: Product) -> None:
    answers = [
        listener.client.post("/transcribe", files=AUDIO),
        listener.client.post("/transcribe", files=form({"language": "en"})),
        listener.client.post("/transcribe?language=en", files=AUDIO),
        listener.client.post("/transcribe?language=en&temperature=0.5", content=flac()),
        listener.client.post("/transcribe", content=flac(), headers={"Content-Type": "video/mp4"}),
    ]
    assert [answer.status_code for answer in answers] == [202] * 5
    texts = {heard(listener, answer.json()["id"])["text"] for answer in answers}
    assert texts == {f"bytes: {len(flac())}"}


def test_a_transcript_is_json_and_can_be_had_as_subtitles(listener: Product) -> None:
    job_id = str(listener.client.post("/transcribe", files=AUDIO).json()["id"])
    told = heard(listener, job_id)
    assert set(told) == {"text", "language", "language_probability", "seconds", "segments", "words"}
    srt = listener.client.get("/job", params={"id": job_id, "subtitles": "srt"})
    assert (srt.headers["content-type"], srt.text[:5]) == ("application/x-subrip", "1\n00:")
    assert srt.headers["content-disposition"] == f'inline; filename="{job_id}.srt"'
    vtt = listener.client.get("/job", params={"id": job_id, "subtitles": "vtt"})
    assert (vtt.headers["content-type"], vtt.text[:6]) == ("text/vtt; charset=utf-8", "WEBVTT")
    part = listener.client.get(
        "/job", params={"id": job_id, "subtitles": "vtt"}, headers={"Range": "bytes=0-5"}
    )
    assert (part.status_code, part.text) == (206, "WEBVTT")


def test_a_transcript_can_be_followed_segment_by_segment(listener: Product) -> None:
    job_id = str(listener.client.post("/transcribe", files=AUDIO).json()["id"])
    following = listener.client.get("/job", params={"id": job_id, "follow": 1})
    segments = heard(listener, job_id)["segments"]
    again = listener.client.get("/job", params={"id": job_id, "follow": 1})
    for answer in (following, again):
        assert answer.headers["content-type"] == "application/x-ndjson"
        assert [json.loads(line) for line in answer.text.splitlines()] == segments
    ranged = listener.client.get("/job", params={"id": job_id, "follow": 1}, headers={"Range": "bytes=0-0"})
    assert (ranged.status_code, ranged.text) == (206, "{")


def test_the_job_tells_of_what_it_heard(listener: Product) -> None:
    job = listener.finish(listener.client.post("/transcribe", files=AUDIO).json()["id"])
    assert (job["operation"], job["model"]) == ("transcribe", "heard")
    assert job["metrics"]["audio_seconds"] == 1.0
    assert job["notes"] == ["The language was guessed."]
    assert job["tracks"]["count"] == 1
    assert job["tracks"]["items"][0]["content_type"] == "application/json"


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"subtitles": "ass"}, "subtitles"),
        ({"subtitles": "srt", "track": 0}, "subtitles"),
        ({"track": 0}, "track"),
        ({"replay": 0}, "replay"),
        ({"latents": 0}, "latents"),
    ],
)
def test_what_a_transcript_does_not_have_is_told(
    listener: Product, params: Mapping[str, str | int], field: str
) -> None:
    job_id = str(listener.client.post("/transcribe", files=AUDIO).json()["id"])
    listener.finish(job_id)
    answer = listener.client.get("/job", params={"id": job_id, **params})
    assert (answer.status_code, answer.json()["field"]) == (400, field)


def test_a_song_has_no_subtitles(listener: Product) -> None:
    job_id = listener.made("/plan", style="folk")
    answer = listener.client.get("/job", params={"id": job_id, "subtitles": "srt"})
    assert (answer.status_code, answer.json()["field"]) == (400, "subtitles")


@pytest.mark.parametrize(
    ("files", "status", "code", "field"),
    [
        ({"request": form({})["request"]}, 400, "invalid_field", "audio"),
        (AUDIO | {"file": ("a", b"b", "text/plain")}, 400, "unknown_field", "file"),
        (form({"language": "xx"}), 400, "invalid_field", "language"),
        (form({"languages": "en"}), 400, "unknown_field", "languages"),
        (form(b"{"), 400, "invalid_json", None),
        (form(b"[]"), 400, "invalid_json", None),
        (form({"temperature": "0.5"}), 400, "invalid_field", "temperature"),
        (form({"model": "sketch"}), 400, "invalid_field", "model"),
        (form({"model": "other"}), 404, "unknown_model", "model"),
        (form(b" " * (MAX_REQUEST_PART_BYTES + 1)), 413, "body_too_large", None),
        ({"audio": ("a", flac(), "image/png")}, 415, "unsupported_media", None),
        ({"audio": ("a", b"no audio", "audio/flac")}, 400, "invalid_field", "audio"),
        ({"audio": ("a", flac()[:30], "audio/flac")}, 400, "invalid_field", "audio"),
        ({"audio": ("a", b"", "audio/flac")}, 400, "invalid_field", "audio"),
    ],
)
def test_a_wrong_form_is_told_what_to_change(
    listener: Product, files: Files, status: int, code: str, field: str | None
) -> None:
    before = listener.client.get("/status").json()["queue"]
    answer = listener.client.post("/transcribe", files=files)
    assert (answer.status_code, answer.json()["code"], answer.json().get("field")) == (status, code, field)
    assert listener.parts.limits.uploads.held == 0
    assert listener.client.get("/status").json()["queue"] == before


@pytest.mark.parametrize(
    ("query", "kind", "status", "code", "field"),
    [
        ("language=xx", "audio/flac", 400, "invalid_field", "language"),
        ("language=en&language=de", "audio/flac", 400, "invalid_field", "language"),
        ("lang=en", "audio/flac", 400, "unknown_field", "lang"),
        ("temperature=2", "audio/flac", 400, "invalid_field", "temperature"),
        ("temperature=hot", "audio/flac", 400, "invalid_field", "temperature"),
        ("task=sing", "audio/flac", 400, "invalid_field", "task"),
        ("model=other", "audio/flac", 404, "unknown_model", "model"),
        ("", "text/plain", 415, "unsupported_media", None),
        ("", "application/json", 415, "unsupported_media", None),
        ("", "multipart/form-data", 400, "malformed_request", None),
    ],
)
def test_a_wrong_call_is_told_what_to_change(
    listener: Product, query: str, kind: str, status: int, code: str, field: str | None
) -> None:
    answer = listener.client.post(f"/transcribe?{query}", content=flac(), headers={"Content-Type": kind})
    assert (answer.status_code, answer.json()["code"], answer.json().get("field")) == (status, code, field)


def test_options_stand_in_one_place(listener: Product) -> None:
    answer = listener.client.post("/transcribe?language=de", files=form({"language": "en"}))
    assert (answer.status_code, answer.json()["field"]) == (400, "language")
    assert "not in both" in answer.json()["error"]


def test_options_and_recording_are_what_a_key_names(listener: Product) -> None:
    headers = {"Idempotency-Key": "listening"}
    answers = [
        listener.client.post(f"/transcribe{query}", files=files, headers=headers)
        for query, files in (
            ("", AUDIO),
            ("", form({"model": "heard", "temperature": 0})),
            ("?language=en", AUDIO),
            ("", {"audio": ("talk.flac", flac(0.4), "audio/flac")}),
        )
    ]
    listener.finish(answers[0].json()["id"])
    assert [answer.status_code for answer in answers] == [202, 200, 422, 422]


async def unread(*_: object) -> None:
    raise AssertionError("the body was read")


def full(*_: object) -> None:
    raise StoreFull(1, 1, 1, 1)


def crowded(*_: object) -> None:
    raise QueueFull(1)


@pytest.mark.parametrize("files", [AUDIO, None])
@pytest.mark.parametrize(
    ("what", "status", "code"),
    [
        ("uploads", 429, "too_many_uploads"),
        ("inputs", 429, "too_many_uploads"),
        ("store", 507, "result_store_full"),
        ("queue", 429, "queue_full"),
        ("size", 413, "body_too_large"),
    ],
)
def test_where_there_is_no_room_the_body_is_not_read(
    listener: Product, files: Files | None, what: str, status: int, code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = listener.parts
    headers = {} if files else {"Content-Type": "audio/flac"}
    match what:
        case "uploads":
            monkeypatch.setattr(parts.limits.uploads, "total", 0)
        case "inputs":
            monkeypatch.setattr(parts.queue, "_most_input_bytes", 100)
        case "store":
            monkeypatch.setattr(parts.store, "check_accepting", full)
        case "queue":
            monkeypatch.setattr(parts.queue, "check_admitting", crowded)
        case _:
            headers |= {"Content-Length": str(MAX_BODY_BYTES + 1)}
    before = listener.client.get("/status").json()["queue"]["rejected"]
    monkeypatch.setattr(uploads_of, "read_form", unread)
    monkeypatch.setattr(uploads_of, "read_file", unread)
    answer = listener.client.post(
        "/transcribe", files=files, content=None if files else flac(), headers=headers
    )
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert listener.client.get("/status").json()["queue"]["rejected"] == before + (what != "size")


def test_a_recording_that_proves_damaged_fails_its_job(
    listener: Product,
    ear: TranscriptionDouble,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def damaged() -> None:
        raise InvalidRequest("audio", "The audio is damaged or cut short; send the whole file again.")

    monkeypatch.setattr(ear, "before", damaged)
    job_id = listener.client.post("/transcribe", files=AUDIO).json()["id"]
    job = listener.finish(job_id)
    assert (job["status"], job["code"]) == ("failed", "invalid_field")
    assert "send the whole file again" in job["error"]
    (line,) = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert line.getMessage() == f"Job {job_id[:6]}… (transcribe) failed: invalid_field."


def wav(
    *, channels: int = 1, bits: int = 16, told: int | None = None, kind: int = 1, sound: bytes = bytes(3200)
) -> bytes:
    """A WAV whose header says what it is told to, over a tenth of a second of silence."""
    block, size = channels * bits // 8, len(sound) if told is None else told
    form = struct.pack("<HHIIHH", kind, channels, 16_000, 16_000 * block, block % 2**16, bits)
    head = b"RIFF" + struct.pack("<I", (36 + size) % 2**32) + b"WAVEfmt " + struct.pack("<I", 16)
    return head + form + b"data" + struct.pack("<I", size) + sound


@pytest.mark.parametrize(
    "recording",
    [
        wav(channels=0),
        wav(channels=65_535),
        wav(bits=0),
        wav(told=6400),
        wav()[:1000],
        wav()[:20],
        b"RIFF",
        b"no sound at all",
    ],
)
def test_a_file_whose_header_cannot_be_true_is_refused_at_once(listener: Product, recording: bytes) -> None:
    answer = listener.client.post(
        "/transcribe", content=recording, headers={"Content-Type": "application/octet-stream"}
    )
    told = answer.json()
    assert (answer.status_code, told["code"], told["field"]) == (400, "invalid_field", "audio")
    assert "send" in told["error"]


@pytest.mark.parametrize("told", [2**31 - 2, 2**32 - 1])
def test_a_wav_that_does_not_tell_its_length_is_taken(listener: Product, told: int) -> None:
    answer = listener.client.post(
        "/transcribe", content=wav(told=told), headers={"Content-Type": "audio/wav"}
    )
    assert answer.status_code == 202
    assert listener.finish(answer.json()["id"])["status"] == "done"


def test_samples_that_are_no_numbers_are_silence() -> None:
    sound = np.full(1600, np.nan, np.float32).tobytes()
    with listening(io.BytesIO(wav(kind=3, bits=32, sound=sound))) as stream:
        assert np.array_equal(np.concatenate(list(stream.blocks)), np.zeros(1600))


def test_the_header_is_read_in_a_place_for_uploads(
    listener: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[int] = []

    def watched(recording: BinaryIO) -> AbstractContextManager[AudioStream]:
        held.append(listener.parts.limits.uploads.held)
        return listening(recording)

    monkeypatch.setattr(transcription_operations, "listening", watched)
    job_id = listener.client.post("/transcribe", files=AUDIO).json()["id"]
    assert (held, listener.parts.limits.uploads.held) == ([1], 0)
    assert listener.finish(job_id)["status"] == "done"


def test_without_a_listener_the_body_is_not_read(
    studio_without: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads_of, "read_form", unread)
    answer = studio_without.client.post("/transcribe", files=AUDIO)
    assert (answer.status_code, answer.json()["code"]) == (404, "unknown_model")


@pytest.fixture
def studio_without(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """A product whose only model is the band."""
    with product(tmp_path_factory.mktemp("without"), catalogue=Catalogue()) as running:
        yield running
