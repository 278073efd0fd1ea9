"""`/v1/music` and what lies below it, with the built-in band and a double of YuE2."""

import base64
import email
import io
import json
from collections.abc import Iterator
from typing import Any

import pytest
import soundfile
from starlette.testclient import TestClient

from engine.catalogue import Catalogue
from tests.server.product import Product, product
from tests.server.yue2_double import Yue2Double

SHORT = {"prompt": "pop, happy", "music_length_ms": 4_000, "seed": 3, "model_id": "sketch"}
DOUBLE = {"prompt": "folk", "seed": 3}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """The product with the band and a double of YuE2, which is the default."""
    with product(tmp_path_factory.mktemp("music"), catalogue=Catalogue(yue2=Yue2Double())) as running:
        yield running


@pytest.fixture
def client(server: Product) -> TestClient:
    return server.client


def audio_of(server: Product, job_id: str) -> bytes:
    return server.client.get("/job", params={"id": job_id, "track": 0}).content


def notes_of(server: Product, job_id: str) -> list[str]:
    return list(server.client.get("/job", params={"id": job_id}).json()["notes"])


def parts_of(answer: Any) -> tuple[Any, bytes, str]:
    """The JSON, the audio and its file's name, as MIME tells them."""
    head = f"Content-Type: {answer.headers['content-type']}\r\n\r\n".encode()
    message = email.message_from_bytes(head + answer.content)
    assert message.defects == []
    about, sound = [part for part in message.walk() if not part.is_multipart()]
    kept = answer.content.split(b"\r\n\r\n", 2)[2]
    return json.loads(str(about.get_payload())), kept, str(sound.get_filename())


@pytest.mark.parametrize("path", ["/v1/music", "/v1/music/stream"])
def test_a_song_is_its_stored_file(server: Product, client: TestClient, path: str) -> None:
    answer = client.post(path, json=SHORT)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "audio/mpeg")
    job_id = answer.headers["song-id"]
    assert job_id == answer.headers["x-yue2-job-id"]
    assert answer.content == audio_of(server, job_id)
    told = soundfile.info(io.BytesIO(answer.content))
    assert (told.samplerate, told.channels) == (44_100, 2)
    assert told.duration == pytest.approx(4, abs=0.05)


def test_details_come_before_the_same_file(server: Product, client: TestClient) -> None:
    body = SHORT | {"with_timestamps": True, "with_waveform_visual": True}
    answer = client.post("/v1/music/detailed", params={"output_format": "pcm_16000"}, json=body)
    assert answer.status_code == 200
    assert int(answer.headers["content-length"]) == len(answer.content)
    about, kept, filename = parts_of(answer)
    stored = audio_of(server, answer.headers["song-id"])
    end = f"\r\n--song-{answer.headers['song-id']}--\r\n".encode()
    assert kept == stored + end
    assert filename.endswith(".pcm")
    assert sum(part["duration_ms"] for part in about["composition_plan"]["sections"]) == 4_000
    assert about["words_timestamps"] == []
    assert len(about["waveform_visual"]) == 16
    assert max(map(abs, about["waveform_visual"])) > 50


def test_the_vendors_client_is_sent_nothing_behind_the_audio(server: Product, client: TestClient) -> None:
    headers = {"X-Fern-SDK-Name": "elevenlabs"}
    answer = client.post("/v1/music/detailed", json=DOUBLE, headers=headers)
    assert answer.content.endswith(audio_of(server, answer.headers["song-id"]))
    assert int(answer.headers["content-length"]) == len(answer.content)


def test_events_tell_the_same(server: Product, client: TestClient) -> None:
    body = DOUBLE | {"with_timestamps": True}
    answer = client.post("/v1/music/detailed/stream", params={"output_format": "pcm_48000"}, json=body)
    assert answer.headers["content-type"].startswith("text/event-stream")
    *blocks, end = answer.text.split("\n\n")
    events = [json.loads(block.removeprefix("data: ")) for block in blocks]
    assert end == ""
    names = [event["event"] for event in events]
    assert names[:3] == ["composition_plan", "song_metadata", "audio_chunk"]
    assert names[-1] == "completion"
    sound = b"".join(base64.b64decode(event["data"]) for event in events if event["event"] == "audio_chunk")
    assert sound == audio_of(server, answer.headers["song-id"])
    assert names.count("audio_chunk") > 1


def test_the_default_model_is_told_no_times_and_notes_say_so(server: Product, client: TestClient) -> None:
    section = {"section_name": "Verse", "duration_ms": 5_000, "lines": ["la la"]}
    plan = {"positive_global_styles": ["folk"], "negative_global_styles": ["drums"], "sections": [section]}
    body = {"composition_plan": plan, "store_for_inpainting": True}
    job_id = client.post("/v1/music", json=body).headers["song-id"]
    replay = client.get("/job", params={"id": job_id, "replay": 0}).json()
    assert (replay["model"], replay["style"], replay["lyrics"]) == ("yue2", "folk", "[Verse]\nla la")
    notes = " ".join(notes_of(server, job_id))
    for told in ("store_for_inpainting", "drums", "how long each section"):
        assert told in notes


@pytest.mark.parametrize(("model", "key"), [("music_v1", "sections"), ("music_v2", "chunks")])
def test_a_plan_is_made_without_a_job(server: Product, client: TestClient, model: str, key: str) -> None:
    before = server.parts.store.usage()
    answer = client.post(
        "/v1/music/plan", json={"prompt": "waltz", "music_length_ms": 30_000, "model_id": model}
    )
    assert answer.status_code == 200
    assert "x-yue2-job-id" not in answer.headers
    assert sum(part["duration_ms"] for part in answer.json()[key]) == 30_000
    assert server.parts.store.usage() == before


@pytest.mark.parametrize(
    ("path", "params", "body", "status", "code", "param"),
    [
        ("/v1/music", {}, {}, 400, "missing_required_parameter", "prompt"),
        ("/v1/music", {"output_format": "mp3"}, {"prompt": "a"}, 400, "invalid_value", "output_format"),
        ("/v1/music", {}, {"prompt": "a", "finetune_id": "x"}, 400, "invalid_value", "finetune_id"),
        (
            "/v1/music/detailed",
            {},
            {"prompt": "a", "music_length_ms": 5},
            400,
            "invalid_value",
            "music_length_ms",
        ),
        ("/v1/music/stream", {}, {"prompt": "a", "model_id": "x"}, 404, "model_not_found", "model_id"),
        ("/v1/music/plan", {}, {"prompt": "a", "model_id": "x"}, 404, "model_not_found", "model_id"),
        ("/v1/music/plan", {}, {"prompt": " "}, 400, "missing_required_parameter", "prompt"),
    ],
)
def test_refusals_are_in_the_vendors_form(
    client: TestClient,
    path: str,
    params: dict[str, str],
    body: dict[str, Any],
    status: int,
    code: str,
    param: str,
) -> None:
    answer = client.post(path, params=params, json=body)
    assert answer.status_code == status
    told = answer.json()
    assert (told["error"]["code"], told["error"]["param"]) == (code, param)
    assert (told["detail"]["code"], told["detail"]["message"]) == (code, told["error"]["message"])
    assert "x-yue2-job-id" not in answer.headers


def test_a_key_of_the_vendors_kind_makes_one_song_of_two_calls(client: TestClient) -> None:
    headers = {"Idempotency-Key": "one-song", "xi-api-key": "any"}
    first, again = (client.post("/v1/music", json=DOUBLE, headers=headers) for _ in range(2))
    assert first.headers["song-id"] == again.headers["song-id"]
    assert first.content == again.content
