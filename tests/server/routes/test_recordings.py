"""`POST /mcp/transcribe`, with a double of the listener: what an agent sends to have it written down."""

import io
import json
from collections.abc import Iterator

import numpy as np
import pytest

from engine.audio import AudioForm, encode
from engine.catalogue import Catalogue
from server.jobs.errors import GroupFull
from server.limits import AGENT_JOBS, AGENTS_GROUP, MAX_BODY_BYTES
from server.routes import recordings
from tests.agents.wire import MODERN, tool_call
from tests.server.product import Product, product
from tests.server.sound_doubles import TranscriptionDouble

PATH = "/mcp/transcribe"
Files = dict[str, tuple[str, bytes, str]]


def flac() -> bytes:
    sink = io.BytesIO()
    encode(np.full((3200, 1), 0.1, np.float32), 16_000, AudioForm("flac"), sink)
    return sink.getvalue()


TALK = flac()
AUDIO: Files = {"audio": ("talk.flac", TALK, "audio/flac")}


@pytest.fixture(scope="module")
def listener(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """The product with a double that listens; tests leave its queue empty."""
    models = Catalogue(transcription=[TranscriptionDouble()])
    with product(tmp_path_factory.mktemp("listener"), catalogue=models) as running:
        yield running


def form(options: object) -> Files:
    return AUDIO | {"request": ("request.json", json.dumps(options).encode(), "application/json")}


def status(listener: Product, job_id: str) -> tuple[dict[str, object], str]:
    """What `job_status` tells of a finished job, and what is behind its link."""
    assert listener.finish(job_id)["status"] == "done"
    sent = tool_call(MODERN, "job_status", {"job_id": job_id})
    told = listener.client.post("/mcp", content=sent.content, headers=sent.headers).json()["result"]
    structured = dict(told["structuredContent"])
    return structured, listener.client.get(str(structured["url"])).text


def test_a_file_and_a_form_are_written_down_alike(listener: Product) -> None:
    answers = [
        listener.client.post(f"{PATH}?format=srt&title=The%20talk", content=TALK),
        listener.client.post(f"{PATH}?format=srt&title=The%20talk", files=AUDIO),
        listener.client.post(PATH, files=form({"format": "srt", "title": "The talk"})),
        listener.client.post(
            f"{PATH}?format=srt&title=The%20talk", content=TALK, headers={"Content-Type": "video/mp4"}
        ),
    ]
    assert [answer.status_code for answer in answers] == [202] * 4
    assert set(answers[0].json()) == {"id", "status", "queue_position", "eta_seconds", "eta_source", "notes"}
    for answer in answers:
        told, text = status(listener, answer.json()["id"])
        assert (told["state"], told["file_name"], told["operation"]) == (
            "complete",
            "the-talk.srt",
            "transcribe",
        )
        assert text.startswith("1\n00:00:00")


@pytest.mark.parametrize(
    ("query", "name", "kind"),
    [
        ("", "transcript.txt", "text/plain"),
        ("?format=json", "transcript.json", "application/json"),
        ("?format=vtt&title=Ünï", "uni.vtt", "text/vtt"),
    ],
)
def test_the_file_is_of_the_form_asked_for(listener: Product, query: str, name: str, kind: str) -> None:
    job_id = str(listener.client.post(f"{PATH}{query}", content=TALK).json()["id"])
    told, _ = status(listener, job_id)
    assert (told["file_name"], str(told["mime_type"]).partition(";")[0]) == (name, kind)


def test_the_job_is_an_agents(listener: Product) -> None:
    job_id = str(listener.client.post(PATH, content=TALK).json()["id"])
    assert listener.finish(job_id)["status"] == "done"
    assert listener.parts.artifacts.holds(job_id)
    assert not listener.parts.store.holds(job_id)


def test_the_same_key_is_the_same_job(listener: Product) -> None:
    key = {"Idempotency-Key": "monday"}
    first = listener.client.post(f"{PATH}?language=en", content=TALK, headers=key)
    again = listener.client.post(f"{PATH}?language=en", content=TALK, headers=key)
    other = listener.client.post(f"{PATH}?language=de", content=TALK, headers=key)
    assert (first.status_code, again.status_code, other.status_code) == (202, 200, 422)
    assert again.headers["idempotent-replay"] == "true"
    assert again.json()["id"] == first.json()["id"]
    assert listener.finish(first.json()["id"])["status"] == "done"


@pytest.mark.parametrize(
    ("query", "body", "code", "field"),
    [
        ("?format=ass", TALK, "invalid_field", "format"),
        ("?language=Klingon", TALK, "invalid_field", "language"),
        ("?title=" + "x" * 81, TALK, "invalid_field", "title"),
        ("?format=srt&format=vtt", TALK, "invalid_field", "format"),
        ("?job_id=abc", TALK, "unknown_field", "job_id"),
        ("?idempotency_key=abc", TALK, "unknown_field", "idempotency_key"),
        ("?temperature=0", TALK, "unknown_field", "temperature"),
        ("?model=nobody", TALK, "unknown_model", "model"),
        ("", b"", "invalid_field", "audio"),
        ("", b"no recording at all", "invalid_field", "audio"),
    ],
)
def test_what_cannot_be_done_is_refused_in_the_native_way(
    listener: Product, query: str, body: bytes, code: str, field: str
) -> None:
    answer = listener.client.post(f"{PATH}{query}", content=body)
    assert (answer.status_code, answer.json()["code"]) == (404 if code == "unknown_model" else 400, code)
    assert answer.json()["field"] == field
    assert listener.parts.limits.uploads.held == 0


@pytest.mark.parametrize(
    ("query", "files", "status", "code"),
    [
        ("", form({"format": "ass"}), 400, "invalid_field"),
        ("", form({"model": "nobody"}), 404, "unknown_model"),
        ("", form({"job_id": "abc"}), 400, "unknown_field"),
        ("", form([]), 400, "invalid_json"),
        ("?format=srt", form({"format": "srt"}), 400, "invalid_field"),
        ("", {"request": form({})["request"]}, 400, "invalid_field"),
        ("", AUDIO | {"more": ("a", b"a", "text/plain")}, 400, "unknown_field"),
        ("", {"audio": ("a", TALK, "image/png")}, 415, "unsupported_media"),
    ],
)
def test_a_form_that_cannot_be_done_is_refused_in_the_native_way(
    listener: Product, query: str, files: Files, status: int, code: str
) -> None:
    answer = listener.client.post(f"{PATH}{query}", files=files)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert listener.parts.limits.uploads.held == 0


def test_a_body_of_another_kind_or_size_is_refused_unread(
    listener: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("read_form", "read_file"):
        monkeypatch.setattr(recordings, name, None)
    answer = listener.client.post(PATH, content=b"", headers={"Content-Length": str(MAX_BODY_BYTES + 1)})
    assert (answer.status_code, answer.json()["code"]) == (413, "body_too_large")
    assert listener.client.post(f"{PATH}?model=nobody", content=TALK).status_code == 404


def crowded(input_bytes: int, group: str) -> None:
    """Agents have all their places, whatever there is of others."""
    if group == AGENTS_GROUP:
        raise GroupFull(AGENT_JOBS)


def test_where_agents_have_all_their_places_it_is_refused_unread(
    listener: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("read_form", "read_file"):
        monkeypatch.setattr(recordings, name, None)
    monkeypatch.setattr(listener.parts.queue, "check_admitting", crowded)
    answer = listener.client.post(PATH, content=TALK)
    assert (answer.status_code, answer.json()["code"], answer.headers["retry-after"]) == (
        429,
        "queue_full",
        "5",
    )


def test_places_for_uploads_are_shared(listener: Product) -> None:
    with listener.parts.limits.uploads.slot(), listener.parts.limits.uploads.slot():
        answer = listener.client.post(PATH, content=TALK)
    assert (answer.status_code, answer.json()["code"]) == (429, "too_many_uploads")


def test_post_is_the_only_method(listener: Product) -> None:
    answer = listener.client.get(PATH)
    assert (answer.status_code, answer.headers["allow"], answer.json()["code"]) == (
        405,
        "POST",
        "method_not_allowed",
    )
