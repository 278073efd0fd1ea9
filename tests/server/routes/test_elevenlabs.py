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
from engine.errors import InvalidRequest
from engine.request import SongRequest
from engine.song_model import Latents
from server.routes.elevenlabs import EVENT_BYTES
from tests.server.product import Product, product
from tests.server.yue2_double import Yue2Double

SHORT = {"prompt": "pop, happy", "music_length_ms": 4_000, "seed": 3, "model_id": "sketch"}
DOUBLE = {"prompt": "folk", "seed": 3}


class Choosy(Yue2Double):
    """Refuses what is too long in the words of our own requests, as YuE2 does."""

    def check(self, request: SongRequest, latents: Latents | None = None) -> None:
        super().check(request, latents)
        for field, text in (("lyrics", request.lyrics), ("style", request.style)):
            if "far too long" in text:
                raise InvalidRequest(
                    field,
                    f"It needs 4096 for abc_sampling.max_tokens and 15000 for semantic_sampling.max_tokens. Shorten {field}, "
                    "or lower abc_sampling.max_tokens or lower semantic_sampling.max_tokens.",
                )


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """The product with the band and a double of YuE2, which is the default."""
    with product(tmp_path_factory.mktemp("music"), catalogue=Catalogue(yue2=Choosy())) as running:
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


TOO_LONG = {"section_name": "Verse", "duration_ms": 5_000, "lines": ["far too long"]}


@pytest.mark.parametrize(
    ("body", "source", "length"),
    [
        ({"prompt": "folk, far too long", "music_length_ms": 600_000}, "prompt", "music_length_ms"),
        ({"prompt": "folk\n[Verse]\nfar too long"}, "prompt", "music_length_ms"),
        ({"composition_plan": {"sections": [TOO_LONG]}}, "composition_plan", "composition_plan"),
    ],
)
def test_what_the_model_refuses_names_fields_of_these_calls(
    client: TestClient, body: dict[str, Any], source: str, length: str
) -> None:
    answer = client.post("/v1/music", json=body)
    told = answer.json()["error"]
    assert (answer.status_code, told["param"]) == (400, source)
    assert told["message"] == (
        f"It needs 4096 for the score and 15000 for {length}. Shorten {source}, or lower the score or lower {length}."
    )


def test_pieces_of_sound_join_without_padding() -> None:
    assert EVENT_BYTES % 3 == 0


@pytest.mark.parametrize("path", ["/v1/music", "/v1/music/detailed", "/v1/music/plan"])
def test_a_plan_that_would_be_repeated_without_end_is_refused(client: TestClient, path: str) -> None:
    styles = [f"{number:03d}" + "x" * 190 for number in range(40)]
    plan = {
        "positive_global_styles": styles,
        "sections": [{"section_name": "A", "duration_ms": 3_000}] * 200,
    }
    field = "source_composition_plan" if path.endswith("plan") else "composition_plan"
    body = {field: plan, "model_id": "music_v2"} | ({"prompt": "a"} if path.endswith("plan") else {})
    answer = client.post(path, json=body)
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, field)
    assert "1048576" in answer.json()["error"]["message"]


def test_a_plan_is_answered_in_the_shape_that_was_sent(client: TestClient) -> None:
    plan = {"chunks": [{"text": "[Verse]\nla la", "duration_ms": 5_000, "positive_styles": ["folk"]}]}
    answer = client.post(
        "/v1/music/detailed", json={"composition_plan": plan, "model_id": "sketch", "seed": 3}
    )
    (told,) = parts_of(answer)[0]["composition_plan"]["chunks"]
    assert (told["text"], told["duration_ms"]) == ("[Verse]\nla la", 5_000)
