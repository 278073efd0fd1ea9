"""YuE2 behind the API, by its double: latents of songs, the codec alone, uploads, notes."""

import asyncio
import io
import json
import logging
from collections.abc import Iterator, Mapping

import numpy as np
import pytest
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message

from engine.audio import AudioForm, decode, encode
from engine.catalogue import Catalogue
from engine.errors import UnknownModel
from server.codec_operations import CodecOperations
from server.limits import MAX_BODY_BYTES, MAX_REQUEST_PART_BYTES
from server.routes import native
from server.routes import vae as uploads_of
from server.routes.vae import VaeRoutes
from server.submission import Submissions
from tests.server.product import Product, product
from tests.server.yue2_double import CHANNELS, FINGERPRINT, Yue2Double

SONG = {"style": "folk", "duration": 0.2, "output_format": "wav32", "lm_seed": 3, "seed": 5}
LATENTS = np.linspace(-0.5, 0.5, 5 * CHANNELS, dtype="<f4").reshape(5, CHANNELS)
OCTETS = {"Content-Type": "application/octet-stream"}


@pytest.fixture(scope="module")
def yue2() -> Yue2Double:
    return Yue2Double()


@pytest.fixture(scope="module")
def singer(tmp_path_factory: pytest.TempPathFactory, yue2: Yue2Double) -> Iterator[Product]:
    """The product with the double as its default model; tests leave its queue empty."""
    with product(tmp_path_factory.mktemp("singer"), catalogue=Catalogue(yue2=yue2)) as running:
        yield running
    assert (yue2.loaded, yue2.unloaded) == (False, 1)


def part_of(studio: Product, job_id: str, name: str, number: int = 0) -> bytes:
    answer = studio.client.get("/job", params={"id": job_id, name: number})
    assert answer.status_code == 200, answer.text
    return answer.content


def form(request: object = SONG, latents: bytes = LATENTS.tobytes()) -> dict[str, tuple[str, bytes, str]]:
    text = request if isinstance(request, bytes) else json.dumps(request).encode()
    return {
        "request": ("request.json", text, "application/json"),
        "latents": ("song.f32", latents, "application/octet-stream"),
    }


def flac(seconds: float, rate_hz: int = 48_000, channels: int = 2) -> bytes:
    sink = io.BytesIO()
    encode(np.full((round(seconds * rate_hz), channels), 0.25, np.float32), rate_hz, AudioForm("flac"), sink)
    return sink.getvalue()


def test_a_replay_gives_the_same_samples_and_tells_where_it_is_from(singer: Product) -> None:
    first = singer.made("/synth", **SONG, output="latents")
    replay = json.loads(part_of(singer, first, "replay"))
    second = singer.made("/synth", **replay)
    assert (replay["model"], replay["abc_tokens"], replay["fingerprint"]) == ("yue2", "1,2", FINGERPRINT)
    assert part_of(singer, first, "track") == part_of(singer, second, "track")
    assert part_of(singer, first, "latents") == part_of(singer, second, "latents")


def test_latents_come_after_the_audio_of_their_track(singer: Product) -> None:
    job_id = singer.made("/synth", **SONG, output="latents", synth_batch_size=2)
    parts = singer.parts_of(job_id)
    kinds = ["application/json", "audio/wav", "application/octet-stream"]
    assert [part.get_content_type() for part in parts] == kinds * 2
    assert parts[2].get_payload(decode=True) == part_of(singer, job_id, "latents", 0)
    assert singer.finish(job_id)["tracks"]["count"] == 2
    wanting = singer.client.get("/job", params={"id": job_id, "latents": 2})
    assert (wanting.status_code, wanting.json()["field"]) == (400, "latents")


def test_latents_sent_back_give_the_song_again(singer: Product) -> None:
    first = singer.made("/synth", **SONG, output="latents")
    files = form(json.loads(part_of(singer, first, "replay")), part_of(singer, first, "latents"))
    answer = singer.client.post("/synth", files=files)
    assert answer.status_code == 202, answer.text
    assert singer.finish(answer.json()["id"])["status"] == "done"
    assert part_of(singer, answer.json()["id"], "track") == part_of(singer, first, "track")


def test_latents_are_part_of_what_an_idempotency_key_names(singer: Product) -> None:
    key = {"Idempotency-Key": "with-latents"}
    answers = [
        singer.client.post("/synth", files=form(latents=latents), headers=key)
        for latents in (LATENTS.tobytes(), LATENTS.tobytes(), (LATENTS * 2).tobytes())
    ]
    singer.finish(answers[0].json()["id"])
    assert [answer.status_code for answer in answers] == [202, 200, 422]


@pytest.mark.parametrize(
    ("files", "status", "code", "field"),
    [
        ({"request": form()["request"]}, 400, "invalid_field", "latents"),
        ({"latents": form()["latents"]}, 400, "invalid_field", "request"),
        (form() | {"song": ("a", b"b", "text/plain")}, 400, "unknown_field", "song"),
        (form(b"{"), 400, "invalid_json", None),
        (form({"style": ""}), 400, "missing_input", None),
        (form(SONG | {"model": "sketch"}), 400, "invalid_field", "latents"),
        (form(latents=b"123"), 400, "invalid_field", "latents"),
        (form(latents=b""), 400, "invalid_field", "latents"),
        (form(latents=np.full((2, 64), np.nan, "<f4").tobytes()), 400, "invalid_field", "latents"),
        (form(b" " * (MAX_REQUEST_PART_BYTES + 1)), 413, "body_too_large", None),
        (form() | {"latents": ("a", b"b", "audio/flac")}, 415, "unsupported_media", None),
        (form() | {"request": ("a", b"{}", "text/html")}, 415, "unsupported_media", None),
    ],
)
def test_a_wrong_form_is_told_what_to_change(
    singer: Product, files: Mapping[str, tuple[str, bytes, str]], status: int, code: str, field: str | None
) -> None:
    answer = singer.client.post("/synth", files=files)
    assert (answer.status_code, answer.json()["code"], answer.json().get("field")) == (status, code, field)
    assert singer.parts.limits.uploads.held == 0


def test_a_third_upload_and_one_too_large_are_refused_at_once(
    singer: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(singer.parts.limits.uploads, "total", 0)
    before = singer.client.get("/status").json()["queue"]["rejected"]
    answers = [
        singer.client.post("/synth", files=form()),
        singer.client.post("/vae?op=decode", content=LATENTS.tobytes(), headers=OCTETS),
        singer.client.post("/vae?op=decode", headers={"Content-Length": str(MAX_BODY_BYTES + 1)}),
    ]
    codes = ["too_many_uploads", "too_many_uploads", "body_too_large"]
    assert [answer.json()["code"] for answer in answers] == codes
    assert answers[0].headers["retry-after"] == "5"
    assert singer.client.get("/status").json()["queue"]["rejected"] == before + 2


def test_notes_are_told_before_and_with_the_result(singer: Product) -> None:
    asked = SONG | {"fingerprint": {"device": "another"}, "lm_batch_size": 2}
    answer = singer.client.post("/synth", json=asked, headers={"Idempotency-Key": "noted"})
    assert answer.json()["notes"] == ["This replay was made elsewhere."]
    job = singer.finish(answer.json()["id"])
    noted = ["This replay was made elsewhere.", "Song 0 is short.", "Song 1 is short."]
    assert job["notes"] == noted
    again = singer.client.post("/synth", json=asked, headers={"Idempotency-Key": "noted"})
    assert (again.status_code, again.json()["notes"]) == (200, noted)
    assert singer.finish(singer.made("/plan", style="folk", lm_seed=1))["notes"] == ["The plan was short."]


def test_a_cancelled_song_stops_within_the_model(singer: Product, yue2: Yue2Double) -> None:
    yue2.hold.clear()
    yue2.reached.clear()
    job_id = singer.submit("/synth", **SONG, fingerprint={})
    assert yue2.reached.wait(10)
    singer.client.post("/job", params={"id": job_id, "cancel": 1})
    job = singer.finish(job_id)
    yue2.hold.set()
    assert (job["status"], job["notes"]) == ("cancelled", ["This replay was made elsewhere."])


def test_props_put_the_singer_first(singer: Product) -> None:
    props = singer.client.get("/props").json()
    assert [model["id"] for model in props["models"]] == ["yue2", "sketch"]
    assert props["default_model"] == "yue2"
    assert props["limits"]["upload_bytes"] == MAX_BODY_BYTES


@pytest.mark.parametrize("as_form", [False, True])
def test_audio_goes_into_latents_and_back(singer: Product, as_form: bool) -> None:
    audio = flac(0.4, rate_hz=24_000, channels=1)
    into = (
        singer.client.post("/vae?op=encode", files={"audio": ("a.flac", audio, "audio/flac")})
        if as_form
        else singer.client.post("/vae?op=encode", content=audio, headers={"Content-Type": "audio/flac"})
    )
    encoded = singer.finish(into.json()["id"])
    raw = part_of(singer, encoded["id"], "latents")
    assert (encoded["operation"], encoded["model"]) == ("vae", "yue2")
    assert encoded["tracks"]["items"] == [
        {"content_type": "application/octet-stream", "bytes": len(raw), "seconds": 0.4}
    ]
    back = (
        singer.client.post("/vae?op=decode&output_format=wav32", files={"latents": raw})
        if as_form
        else singer.client.post("/vae?op=decode&output_format=wav32", content=raw, headers=OCTETS)
    )
    assert singer.finish(back.json()["id"])["status"] == "done"
    samples, rate = decode(io.BytesIO(part_of(singer, back.json()["id"], "track")))
    latents = np.frombuffer(raw, "<f4").reshape(-1, CHANNELS)
    assert (rate, samples.shape) == (48_000, (1920 * 10 - 64, 2))
    # The codec gives wav32 as it decoded it, and one channel sounds from both sides.
    assert np.array_equal(samples, np.repeat(latents[:, :2], 1920, axis=0)[:-64])
    assert np.ptp(samples[4800:14400]) < 0.01


def test_a_file_that_proves_damaged_fails_its_job_and_is_to_blame(
    singer: Product, caplog: pytest.LogCaptureFixture
) -> None:
    sink = io.BytesIO()
    encode(
        np.random.default_rng(0).uniform(-0.1, 0.1, (48_000, 2)).astype(np.float32),
        48_000,
        AudioForm("flac"),
        sink,
    )
    cut = sink.getvalue()[: sink.tell() // 2]
    job_id = singer.client.post("/vae?op=encode", content=cut).json()["id"]
    job = singer.finish(job_id)
    assert (job["status"], job["code"]) == ("failed", "invalid_field")
    assert "damaged or was cut short; save it again" in job["error"]
    (line,) = [record for record in caplog.records if record.levelno >= logging.WARNING]
    assert line.levelno == logging.WARNING
    assert line.getMessage() == f"Job {job_id[:6]}… (vae) failed: invalid_field."


def test_encoded_audio_is_no_track_and_says_so(singer: Product) -> None:
    job_id = singer.client.post("/vae?op=encode", content=flac(0.1)).json()["id"]
    singer.finish(job_id)
    answer = singer.client.get("/job", params={"id": job_id, "track": 0})
    assert (answer.status_code, answer.json()["field"]) == (400, "track")
    assert answer.json()["error"] == "Audio that was encoded is no track; latents=0 gives its latents."


def test_all_but_wav32_is_brought_to_its_level(singer: Product) -> None:
    answer = singer.client.post(
        "/vae?op=decode&output_format=wav24&peak_clip=0", content=(LATENTS / 9).tobytes(), headers=OCTETS
    )
    singer.finish(answer.json()["id"])
    samples, _ = decode(io.BytesIO(part_of(singer, answer.json()["id"], "result", 1)))
    assert float(np.abs(samples).max()) == pytest.approx(0.5, abs=1e-4)


def test_the_options_and_the_file_are_what_a_key_names(singer: Product) -> None:
    key = OCTETS | {"Idempotency-Key": "decoding"}
    raw = LATENTS.tobytes()
    answers = [
        singer.client.post(f"/vae?op=decode{options}", content=content, headers=key)
        for options, content in (
            ("", raw),
            ("&output_format=mp3&model=yue2", raw),
            ("&peak_clip=0", raw),
            ("", raw[: 4 * 256]),
        )
    ]
    singer.finish(answers[0].json()["id"])
    assert [answer.status_code for answer in answers] == [202, 200, 422, 422]


def test_other_audio_under_the_same_key_is_another_request(singer: Product) -> None:
    headers = {"Content-Type": "audio/flac", "Idempotency-Key": "encoding"}
    answers = [
        singer.client.post("/vae?op=encode", content=flac(seconds), headers=headers)
        for seconds in (0.1, 0.1, 0.2)
    ]
    singer.finish(answers[0].json()["id"])
    assert [answer.status_code for answer in answers] == [202, 200, 422]


def test_latents_that_are_no_numbers_are_no_job(singer: Product) -> None:
    before = singer.client.get("/status").json()["queue"]
    raw = np.full((2, CHANNELS), np.nan, "<f4").tobytes()
    answer = singer.client.post("/vae?op=decode", content=raw, headers=OCTETS)
    assert (answer.status_code, answer.json()["field"]) == (400, "latents")
    assert singer.client.get("/status").json()["queue"] == before


@pytest.mark.parametrize("path", ["/vae?op=encode", "/vae?op=decode", "/synth"])
def test_uploads_of_all_jobs_are_bounded_before_one_is_read(
    singer: Product, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(singer.parts.queue, "_most_input_bytes", 100)
    before = singer.client.get("/status").json()["queue"]["rejected"]
    files = form() if path == "/synth" else {path[-6:]: b"x" * 1000}
    monkeypatch.setattr(uploads_of, "read_form", unread)
    monkeypatch.setattr(native, "read_form", unread)
    answer = singer.client.post(path, files=files)
    assert (answer.status_code, answer.json()["code"]) == (429, "too_many_uploads")
    assert answer.headers["retry-after"] == "5"
    assert singer.client.get("/status").json()["queue"]["rejected"] == before + 1
    assert singer.finish(singer.submit("/plan", style="folk " * 100))["status"] == "done"


async def unread(*_: object) -> None:
    raise AssertionError("the body was read")


@pytest.mark.parametrize(
    ("query", "content", "kind", "status", "code", "field"),
    [
        ("", b"x", "audio/flac", 400, "invalid_field", "op"),
        ("op=sing", b"x", "audio/flac", 400, "invalid_field", "op"),
        ("op=encode&op=decode", b"x", "audio/flac", 400, "invalid_field", "op"),
        ("op=encode&peak_clip=1", b"x", "audio/flac", 400, "unknown_field", "peak_clip"),
        ("op=decode&bitrate=128", b"x", "application/octet-stream", 400, "unknown_field", "bitrate"),
        ("op=decode&mp3_bitrate=127", b"x", "application/octet-stream", 400, "invalid_field", "mp3_bitrate"),
        ("op=encode&model=sketch", flac(0.1), "audio/flac", 400, "invalid_field", "model"),
        ("op=encode&model=yue9", flac(0.1), "audio/flac", 404, "unknown_model", "model"),
        ("op=encode", b"", "audio/flac", 400, "invalid_field", "audio"),
        ("op=encode", b"no audio", "audio/flac", 400, "invalid_field", "audio"),
        ("op=encode", flac(0.02), "", 400, "invalid_field", "audio"),
        ("op=encode", b"x", "text/plain", 415, "unsupported_media", None),
        ("op=decode", b"x", "application/octet-stream", 400, "invalid_field", "latents"),
        ("op=decode", bytes(24_577 * 256), "application/octet-stream", 413, "body_too_large", None),
        ("op=decode", LATENTS.tobytes(), "audio/flac", 415, "unsupported_media", None),
        ("op=decode", b"", "multipart/form-data; boundary=a", 400, "malformed_request", None),
    ],
)
def test_a_wrong_call_of_the_codec_is_told_what_to_change(
    singer: Product, query: str, content: bytes, kind: str, status: int, code: str, field: str | None
) -> None:
    headers = {"Content-Type": kind} if kind else {}
    answer = singer.client.post(f"/vae?{query}", content=content, headers=headers)
    assert (answer.status_code, answer.json()["code"], answer.json().get("field")) == (status, code, field)


def test_without_yue2_it_is_told_how_to_get_it(studio: Product) -> None:
    for op, body in (("encode", flac(0.1)), ("decode", LATENTS.tobytes())):
        answer = studio.client.post(f"/vae?op={op}", content=body)
        assert (answer.status_code, answer.json()["code"]) == (404, "unknown_model")
        assert "set YUE2_MODEL and YUE2_VAE to the folders of its weights" in answer.json()["error"]
    refused = studio.client.post("/synth", files=form())
    assert (refused.status_code, refused.json()["field"]) == (400, "latents")


@pytest.mark.parametrize("op", ["encode", "decode"])
def test_a_body_for_a_codec_that_is_not_there_is_never_asked_for(studio: Product, op: str) -> None:
    limits = studio.parts.limits
    submissions = Submissions(studio.parts.gate, studio.parts.book, limits)
    routes = VaeRoutes(CodecOperations(Catalogue()), submissions, limits)
    asked: list[str] = []

    async def receive() -> Message:
        asked.append("body")
        return {"type": "http.disconnect"}

    query = f"op={op}".encode()
    scope = {"type": "http", "method": "POST", "path": "/vae", "query_string": query, "headers": []}
    with pytest.raises(UnknownModel):
        asyncio.run(routes.vae(Request(scope | {"state": {"owner": ""}}, receive)))
    assert asked == []


def test_an_upload_of_a_client_that_has_gone_is_let_go(singer: Product, yue2: Yue2Double) -> None:
    limits = singer.parts.limits
    submissions = Submissions(singer.parts.gate, singer.parts.book, limits)
    routes = VaeRoutes(CodecOperations(Catalogue(yue2=yue2)), submissions, limits)
    coming = iter([{"type": "http.request", "body": LATENTS.tobytes(), "more_body": True}])

    async def receive() -> Message:
        return next(coming, {"type": "http.disconnect"})

    scope = {"type": "http", "method": "POST", "path": "/vae", "query_string": b"op=decode", "headers": []}
    with pytest.raises(ClientDisconnect):
        asyncio.run(routes.vae(Request(scope | {"state": {"owner": ""}}, receive)))
    assert limits.uploads.held == 0
