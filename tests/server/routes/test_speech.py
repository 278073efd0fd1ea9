"""`POST /speech`, with a double of the voice: answers, refusals, cancelling."""

import json
import threading
from collections.abc import Iterator

import pytest

from engine.catalogue import Catalogue
from engine.errors import CheckpointError
from tests.server.product import Product, product
from tests.server.sound_doubles import SpeechDouble

PATIENCE_SECONDS = 20
TEXT = "One two. Three four five."


class Gate:
    """Lets sentences through once it is open; knows whether one has come."""

    def __init__(self) -> None:
        self.reached, self.opened = threading.Event(), threading.Event()

    def __call__(self, number: int) -> None:
        if number == 1:
            self.reached.set()
            assert self.opened.wait(PATIENCE_SECONDS)


@pytest.fixture(scope="module")
def voice() -> SpeechDouble:
    return SpeechDouble()


@pytest.fixture(scope="module")
def speaker(tmp_path_factory: pytest.TempPathFactory, voice: SpeechDouble) -> Iterator[Product]:
    """The product with a double that speaks; tests leave its queue empty."""
    with product(tmp_path_factory.mktemp("speaker"), catalogue=Catalogue(speech=[voice])) as running:
        yield running
    assert voice.unloaded == 1


@pytest.fixture
def gate(voice: SpeechDouble) -> Iterator[Gate]:
    """Speech stands before its second sentence until this is open."""
    gate = Gate()
    before, voice.between = voice.between, gate
    yield gate
    gate.opened.set()
    voice.between = before


def test_speech_is_one_audio_file_and_its_replay(speaker: Product) -> None:
    job_id = speaker.made("/speech", text=TEXT, output_format="wav16")
    whole = speaker.client.get("/job", params={"id": job_id, "result": 1})
    assert (whole.headers["content-type"], whole.content[:4]) == ("audio/wav", b"RIFF")
    track = speaker.client.get("/job", params={"id": job_id, "track": 0})
    assert track.content == whole.content
    replay = speaker.client.get("/job", params={"id": job_id, "replay": 0}).json()
    assert [word["word"] for word in replay["words"]] == ["One", "two", "Three", "four", "five"]
    assert replay["seed"] >= 0
    job = speaker.finish(job_id)
    assert job["tracks"] == {
        "count": 1,
        "items": [{"content_type": "audio/wav", "bytes": len(whole.content), "seconds": 1.25}],
    }
    assert (job["operation"], job["model"]) == ("speech", "spoken")
    assert (job["metrics"]["audio_seconds"], job["metrics"]["characters"]) == (1.25, len(TEXT))


def test_a_replay_sent_back_gives_the_same_bytes(speaker: Product) -> None:
    first = speaker.made("/speech", text=TEXT, output_format="flac")
    replay = speaker.client.get("/job", params={"id": first, "replay": 0}).json()
    second = speaker.made("/speech", **replay)
    assert [
        speaker.client.get("/job", params={"id": job_id, "result": 1}).content for job_id in (first, second)
    ] == [speaker.client.get("/job", params={"id": first, "track": 0}).content] * 2


def test_a_key_names_one_request(speaker: Product) -> None:
    headers = {"Idempotency-Key": "speech"}
    answers = [
        speaker.client.post("/speech", json={"text": TEXT} | more, headers=headers)
        for more in ({}, {"model": "spoken", "speed": 1.0}, {"speed": 1.5})
    ]
    speaker.finish(answers[0].json()["id"])
    assert [answer.status_code for answer in answers] == [202, 200, 422]
    assert answers[1].headers["idempotent-replay"] == "true"


@pytest.mark.parametrize(
    ("body", "status", "code", "field"),
    [
        ({"text": " \n"}, 400, "missing_input", None),
        ({}, 400, "missing_input", None),
        ({"text": TEXT, "pitch": 1}, 400, "unknown_field", "pitch"),
        ({"text": TEXT, "speed": 5}, 400, "invalid_field", "speed"),
        ({"text": TEXT, "voice": "nobody"}, 400, "invalid_field", "voice"),
        ({"text": TEXT, "model": "sketch"}, 400, "invalid_field", "model"),
        ({"text": TEXT, "model": "loud"}, 404, "unknown_model", "model"),
        ({"text": "x" * 100_001}, 400, "invalid_field", "text"),
        ({"text": "a\0b"}, 400, "invalid_field", "text"),
        ({"text": ["a"]}, 400, "invalid_field", "text"),
        ([], 400, "invalid_json", None),
    ],
)
def test_a_wrong_request_is_told_what_to_change(
    speaker: Product, body: object, status: int, code: str, field: str | None
) -> None:
    before = speaker.client.get("/status").json()["queue"]
    answer = speaker.client.post("/speech", json=body)
    assert (answer.status_code, answer.json()["code"], answer.json().get("field")) == (status, code, field)
    assert speaker.client.get("/status").json()["queue"] == before


def test_a_parameter_or_another_type_is_refused(speaker: Product) -> None:
    answer = speaker.client.post("/speech?voice=one", json={"text": TEXT})
    assert (answer.status_code, answer.json()["field"]) == (400, "voice")
    form = speaker.client.post("/speech", files={"text": ("a", b"b", "text/plain")})
    assert form.status_code == 415
    got = speaker.client.get("/speech")
    assert (got.status_code, got.headers["allow"]) == (405, "POST")


def test_speech_that_is_cancelled_stops_before_its_next_sentence(speaker: Product, gate: Gate) -> None:
    job_id = speaker.submit("/speech", text=TEXT + " Six. Seven.")
    assert gate.reached.wait(PATIENCE_SECONDS)
    told = speaker.client.post("/job", params={"id": job_id, "cancel": 1}).json()
    gate.opened.set()
    job = speaker.finish(job_id)
    assert (told["status"], job["status"]) == ("running", "cancelled")
    assert job["counters"] == {"sentences": 1}
    assert 0 < job["progress"] < 1
    gone = speaker.client.get("/job", params={"id": job_id, "result": 1})
    assert (gone.status_code, gone.json()["code"]) == (404, "not_ready")


def test_damaged_weights_fail_the_job_with_their_sentence(
    speaker: Product, voice: SpeechDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentence = "hibari.onnx is not the file of hibari-tts 0.2.1; run pip install hibari-tts==0.2.1."

    def damaged(*_: object) -> None:
        raise CheckpointError(sentence)

    monkeypatch.setattr(voice, "between", damaged)
    job = speaker.finish(speaker.submit("/speech", text=TEXT))
    assert (job["status"], job["code"], job["error"]) == ("failed", "engine_error", sentence)


def test_a_full_queue_is_told_before_the_body_is_read(speaker: Product, gate: Gate) -> None:
    limit = speaker.client.get("/status").json()["queue"]["limit"]
    jobs = [speaker.submit("/speech", text=TEXT) for _ in range(limit)]
    try:
        answer = speaker.client.post(
            "/speech", content=b"no JSON", headers={"Content-Type": "application/json"}
        )
        assert (answer.status_code, answer.json()["code"]) == (429, "queue_full")
        assert answer.headers["retry-after"] == "5"
    finally:
        for job_id in jobs[1:]:
            speaker.client.post("/job", params={"id": job_id, "cancel": 1})
        gate.opened.set()
    assert speaker.finish(jobs[0])["status"] == "done"


def test_what_one_key_had_said_is_unknown_to_others(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    keys = {"YUE2_API_KEYS": "ann=annannannannannann,bob=bobbobbobbobbobbob"}
    with product(tmp_path_factory.mktemp("keyed"), keys, Catalogue(speech=[SpeechDouble()])) as keyed:
        assert keyed.client.post("/speech", json={"text": TEXT}).status_code == 401
        ann, bob = ({"X-Api-Key": name * 6} for name in ("ann", "bob"))
        sent = keyed.client.post("/speech", json={"text": TEXT}, headers=ann)
        params = {"id": sent.json()["id"], "wait": 45}
        assert keyed.client.get("/job", params=params, headers=ann).json()["status"] == "done"
        assert keyed.client.get("/job", params=params, headers=bob).status_code == 404


def test_the_texts_of_jobs_are_in_no_record(speaker: Product) -> None:
    job_id = speaker.made("/speech", text="Secretword indeed.")
    job = speaker.client.get("/job", params={"id": job_id}).text
    assert "Secretword" not in job
    assert "Secretword" in json.dumps(speaker.client.get("/job", params={"id": job_id, "replay": 0}).json())
