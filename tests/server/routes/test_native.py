"""The native API over the built-in band."""

import asyncio
import io
import json

import numpy as np
import pytest
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message

from engine.audio import decode
from engine.catalogue import Catalogue
from engine.score import parse
from server.jobs.errors import QueueFull
from server.operations import Operations
from server.routes.native import NativeRoutes
from server.submission import Submissions
from tests.server.product import Product

LYRICS = "[Verse]\nThe kettle sings\n[Chorus]\nOh carry me home\n[Outro]\n"
TUNE = "X:1\nM:4/4\nL:1/4\nQ:1/4=240\nK:C\nCDEF|GABc|cBAG|FEDC|\n"


def test_a_song_has_the_sections_asked_for_and_a_replay_beside_its_audio(studio: Product) -> None:
    id = studio.made(
        "/synth", style="instrumental fast folk, 200 BPM", lyrics=LYRICS, output_format="wav16", duration=12
    )
    replay_part, audio_part = studio.parts_of(id)
    replay = json.loads(bytes(replay_part.get_payload(decode=True)))
    samples, rate = decode(io.BytesIO(bytes(audio_part.get_payload(decode=True))))
    named = [section.name.lower() for section in parse(replay["abc"]).sections]
    assert [name for name in named if name in ("verse", "chorus", "outro")] == ["verse", "chorus", "outro"]
    assert (rate, samples.shape[1]) == (48000, 2)
    assert 0.2 < float(np.abs(samples).max()) < 1.0
    assert studio.finish(id)["tracks"]["items"][0]["seconds"] == pytest.approx(len(samples) / rate)


def test_a_replay_posted_again_gives_the_same_samples(studio: Product) -> None:
    first = studio.made("/synth", abc=TUNE, style="jazz", output_format="wav24")
    replay = studio.client.get("/job", params={"id": first, "replay": 0}).json()
    second = studio.made("/synth", **replay)
    audio = [studio.client.get("/job", params={"id": id, "track": 0}).content for id in (first, second)]
    assert replay["seed"] >= 0
    assert audio[0] == audio[1]


def test_tracks_come_song_by_song_with_the_seeds_they_used(studio: Product) -> None:
    id = studio.made(
        "/synth", abc=TUNE, lm_seed=5, seed=70, lm_batch_size=2, synth_batch_size=2, mp3_bitrate=64
    )
    replays = [studio.client.get("/job", params={"id": id, "replay": n}).json() for n in range(4)]
    assert [(replay["lm_seed"], replay["seed"]) for replay in replays] == [(5, 70), (5, 71), (6, 70), (6, 71)]
    assert {(replay["lm_batch_size"], replay["synth_batch_size"]) for replay in replays} == {(1, 1)}
    assert studio.finish(id)["tracks"]["count"] == 4


def test_a_plan_is_a_score_and_melody_mode_has_no_chords(studio: Product) -> None:
    full, melody = (
        studio.client.get(
            "/job", params={"id": studio.made("/plan", style="folk", cot=cot, lm_seed=1), "result": 1}
        )
        for cot in ("full", "melody")
    )
    assert full.headers["content-type"] == "text/vnd.abc"
    assert any(bar.chords for voice in parse(full.text).voices for bar in voice.bars)
    assert not any(bar.chords for voice in parse(melody.text).voices for bar in voice.bars)


def test_a_sketch_plays_the_bars_asked_for(studio: Product) -> None:
    whole = studio.finish(studio.made("/sketch", abc=TUNE))["tracks"]["items"][0]["seconds"]
    one = studio.finish(studio.made("/sketch", abc=TUNE, from_bar=2, bars=1))["tracks"]["items"][0]["seconds"]
    assert whole - one == pytest.approx(3.0, abs=0.05)


def test_a_request_with_its_defaults_written_out_is_the_same_request(studio: Product) -> None:
    key = {"Idempotency-Key": "defaults"}
    first = studio.client.post("/synth", json={"abc": TUNE}, headers=key)
    again = studio.client.post("/synth", json={"abc": TUNE, "steps": 32, "model": ""}, headers=key)
    other = studio.client.post("/synth", json={"abc": TUNE, "steps": 31}, headers=key)
    studio.finish(first.json()["id"])
    assert (first.status_code, again.status_code, other.status_code) == (202, 200, 422)
    assert again.json()["id"] == first.json()["id"]
    assert again.headers["idempotent-replay"] == "true"


@pytest.mark.parametrize(
    ("body", "status", "code", "field"),
    [
        ({"style": "folk", "tempo": 90}, 400, "unknown_field", "tempo"),
        ({"style": "folk", "steps": 400}, 400, "invalid_field", "steps"),
        ({"style": "folk", "semantic_tokens": "1,2"}, 400, "invalid_field", "semantic_tokens"),
        ({"style": "folk", "output": "latents"}, 400, "invalid_field", "output"),
        ({"abc": TUNE, "cot": "off"}, 400, "invalid_field", "abc"),
        ({"style": " "}, 400, "missing_input", None),
        ({"style": "folk", "model": "yue9"}, 404, "unknown_model", "model"),
        ({"abc": "X:1\nK:C\nCDE[FG\n"}, 400, "invalid_score", "abc"),
    ],
)
def test_a_wrong_request_is_told_what_to_change(
    studio: Product, body: dict[str, object], status: int, code: str, field: str | None
) -> None:
    before = studio.client.get("/status").json()["queue"]
    answer = studio.client.post("/synth", json=body)
    told = answer.json()
    assert (answer.status_code, told["code"], told.get("field")) == (status, code, field)
    assert told["error"].endswith((".", ")", "?"))
    assert studio.client.get("/status").json()["queue"] == before


def test_a_fault_in_a_score_has_a_line_and_a_column(studio: Product) -> None:
    told = studio.client.post("/sketch", json={"abc": "X:1\nK:C\nCDE[FG\n"}).json()
    assert (told["line"], told["column"]) == (3, 4)


@pytest.mark.parametrize(
    ("content", "kind", "status", "code"),
    [
        (b"{", "application/json", 400, "invalid_json"),
        (b"[]", "application/json", 400, "invalid_json"),
        (b"style=folk", "application/x-www-form-urlencoded", 415, "unsupported_media"),
        (b" " * (2 * 1024 * 1024 + 1), "application/json", 413, "body_too_large"),
    ],
)
def test_a_body_that_is_no_small_json_object_is_refused(
    studio: Product, content: bytes, kind: str, status: int, code: str
) -> None:
    answer = studio.client.post("/synth", content=content, headers={"Content-Type": kind})
    assert (answer.status_code, answer.json()["code"]) == (status, code)


def test_an_accepted_song_is_told_as_queued(studio: Product) -> None:
    answer = studio.client.post("/synth", json={"abc": TUNE})
    told = answer.json()
    studio.finish(told["id"])
    assert set(told) == {"id", "status", "queue_position", "eta_seconds", "eta_source", "notes"}
    assert (told["status"], told["queue_position"]) == ("queued", 1)
    assert told["eta_seconds"] > 0


def test_refusals_come_in_their_order(studio: Product, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(input_bytes: int, group: str) -> None:
        raise QueueFull(8)

    monkeypatch.setattr(studio.parts.queue, "check_admitting", full)
    big = {"Content-Length": str(3 * 1024 * 1024), "Idempotency-Key": "not valid"}
    codes = [
        studio.client.post("/synth", content=b"{", headers=headers).json()["code"]
        for headers in (big | {"Origin": "http://evil.example"}, big, {"Idempotency-Key": "not valid"}, {})
    ]
    monkeypatch.undo()
    codes.append(
        studio.client.post("/synth", content=b"{", headers={"Idempotency-Key": "a b"}).json()["code"]
    )
    codes.append(studio.client.post("/synth", content=b"{").json()["code"])
    assert codes == [
        "forbidden_origin",
        "body_too_large",
        "queue_full",
        "queue_full",
        "invalid_field",
        "invalid_json",
    ]


def test_a_poll_is_answered_even_where_nobody_more_may_wait(
    studio: Product, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(studio.parts.limits.waits, "total", 0)
    id = studio.submit("/synth", abc=TUNE)
    answer = studio.client.get("/job", params={"id": id, "wait": 45})
    monkeypatch.undo()
    studio.finish(id)
    assert (answer.status_code, answer.json()["id"]) == (200, id)


@pytest.mark.parametrize(
    ("query", "field"), [("result=true", "result"), ("track=0&replay=0", "replay"), ("result=0", "result")]
)
def test_a_question_for_a_result_that_is_unclear_is_refused(studio: Product, query: str, field: str) -> None:
    id = studio.made("/sketch", abc=TUNE)
    answer = studio.client.get(f"/job?id={id}&{query}")
    assert (answer.status_code, answer.json()["field"]) == (400, field)


@pytest.mark.parametrize(
    ("method", "query", "field"),
    [
        ("GET", "", "id"),
        ("GET", "id=0123456789abcdef&wait=46", "wait"),
        ("GET", "id=0123456789abcdef&wait=nan", "wait"),
        ("GET", "id=0123456789abcdef&wait=soon", "wait"),
        ("POST", "id=0123456789abcdef", "cancel"),
        ("POST", "id=0123456789abcdef&cancel=yes", "cancel"),
    ],
)
def test_a_wrong_question_about_a_job_names_the_parameter(
    studio: Product, method: str, query: str, field: str
) -> None:
    answer = studio.client.request(method, f"/job?{query}")
    assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (
        400,
        "invalid_field",
        field,
    )


def test_a_track_that_is_not_there_is_an_invalid_field(studio: Product) -> None:
    id = studio.made("/sketch", abc=TUNE)
    for name in ("track", "replay"):
        answer = studio.client.get("/job", params={"id": id, name: 1})
        assert (answer.status_code, answer.json()["field"]) == (400, name)


def test_what_a_plan_does_not_have_is_told_with_the_way_to_it(studio: Product) -> None:
    id = studio.made("/plan", style="folk")
    (note,) = studio.finish(id)["notes"]
    seed = int(note.removeprefix("The score is drawn with lm_seed ").removesuffix("."))
    again = studio.made("/plan", style="folk", lm_seed=seed)
    scores = [studio.client.get("/job", params={"id": one, "result": 1}).text for one in (id, again)]
    assert scores[0] == scores[1]
    assert studio.finish(again)["notes"] == []
    answer = studio.client.get("/job", params={"id": id, "replay": 0})
    assert (answer.status_code, answer.json()["field"]) == (400, "replay")
    assert answer.json()["error"].startswith("A plan has no replay; send its request again with the lm_seed")


@pytest.mark.parametrize(
    ("method", "path", "code", "field"),
    [
        ("GET", "/job?id=0123456789abcdef&wiat=5", "unknown_field", "wiat"),
        ("HEAD", "/job?id=0123456789abcdef&cancel=1", "", ""),
        ("GET", "/job?id=0123456789abcdef&id=1", "invalid_field", "id"),
        ("POST", "/job?id=0123456789abcdef&cancel=1&result=1", "unknown_field", "result"),
        ("DELETE", "/job?id=0123456789abcdef&track=0", "unknown_field", "track"),
        ("GET", "/job/events?id=0123456789abcdef&wait=5", "unknown_field", "wait"),
        ("POST", "/synth?model=sketch", "unknown_field", "model"),
        ("POST", "/plan?seed=1", "unknown_field", "seed"),
        ("POST", "/sketch?x", "unknown_field", "x"),
    ],
)
def test_a_parameter_that_nobody_reads_is_refused(
    studio: Product, method: str, path: str, code: str, field: str
) -> None:
    answer = studio.client.request(method, path, json={"style": "folk"} if method == "POST" else None)
    assert answer.status_code == 400
    if method != "HEAD":
        assert (answer.json()["code"], answer.json()["field"]) == (code, field)


@pytest.mark.parametrize("key", ["with space", "é", "x" * 256])
def test_an_idempotency_key_is_short_visible_ascii(studio: Product, key: str) -> None:
    headers = [(b"idempotency-key", key.encode())]
    answer = studio.client.post("/synth", json={"abc": TUNE}, headers=headers)
    assert (answer.status_code, answer.json()["field"]) == (400, "Idempotency-Key")


def test_what_a_client_asked_for_that_has_gone_is_not_begun(studio: Product) -> None:
    limits = studio.parts.limits
    operations = Operations(Catalogue(), lambda: 0)
    submissions = Submissions(studio.parts.gate, studio.parts.book, limits)
    routes = NativeRoutes(
        operations, submissions, studio.parts.book, studio.parts.watch, limits, studio.parts.attendance
    )
    coming = iter([{"type": "http.request", "body": json.dumps({"abc": TUNE}).encode()}])

    async def receive() -> Message:
        return next(coming, {"type": "http.disconnect"})

    asked = {"path": "/synth", "query_string": b"", "headers": [], "state": {"owner": ""}}
    scope = {"type": "http", "method": "POST"} | asked
    before = studio.client.get("/status").json()["queue"]
    with pytest.raises(ClientDisconnect):
        asyncio.run(routes.synth(Request(scope, receive)))
    assert studio.client.get("/status").json()["queue"] == before


def test_a_job_route_lists_its_methods(studio: Product) -> None:
    answer = studio.client.put("/job?id=0123456789abcdef")
    assert (answer.status_code, answer.json()["code"]) == (405, "method_not_allowed")
    assert answer.headers["allow"] == "DELETE, GET, HEAD, POST"
