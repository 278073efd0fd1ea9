"""The models that come along, behind a real server: what is said is heard again, and can be stopped."""

import re
from collections.abc import Iterator

import pytest

from tests.server.server_process import ServerProcess

pytestmark = pytest.mark.runtime
TEXT = "The morning train leaves at nine. We will meet near the old stone bridge, and walk to the river."


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServerProcess]:
    """A server with the models that speak and listen; tests leave its queue empty."""
    with ServerProcess(tmp_path_factory.mktemp("sound") / "output", "--sound") as running:
        yield running


def speech(server: ServerProcess, **fields: object) -> str:
    answer = server.client.post("/speech", json={"text": TEXT, **fields})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


def words(text: str) -> list[str]:
    return re.findall(r"[a-z']+", text.lower())


def test_what_is_said_is_followed_and_heard_again(server: ServerProcess) -> None:
    job_id = speech(server, output_format="flac", seed=1)
    with server.client.stream("GET", "/job", params={"id": job_id, "follow": 1}) as followed:
        assert (followed.status_code, followed.headers["content-type"]) == (200, "audio/flac")
        audio = b"".join(followed.iter_bytes())
    assert audio.startswith(b"fLaC")
    replay = server.client.get("/job", params={"id": job_id, "replay": 0}).json()
    assert (replay["voice"], replay["seed"]) == ("heart", 1)
    assert words(" ".join(word["word"] for word in replay["words"])) == words(TEXT)

    stored = server.client.get("/job", params={"id": job_id, "result": 1}).content
    sent = server.client.post("/transcribe", files={"audio": ("speech.flac", stored, "audio/flac")})
    assert sent.status_code == 202, sent.text
    heard_id = sent.json()["id"]
    assert server.finish(heard_id)["status"] == "done"
    heard = server.client.get("/job", params={"id": heard_id, "result": 1}).json()
    assert words(heard["text"]) == words(TEXT)
    starts = {word["word"].strip(",.").lower(): word["start"] for word in replay["words"]}
    for word in heard["words"]:
        name = word["word"].strip(" ,.").lower()
        if len(name) > 4:
            assert word["start"] == pytest.approx(starts[name], abs=0.25)
    srt = server.client.get("/job", params={"id": heard_id, "subtitles": "srt"}).text
    assert words(re.sub(r"\d+|-->|:|,", " ", srt)) == words(TEXT)


def test_a_long_speech_is_cancelled_while_it_is_followed(server: ServerProcess) -> None:
    job_id = speech(server, text=TEXT * 500, output_format="wav16")
    with server.client.stream("GET", "/job", params={"id": job_id, "follow": 1}) as followed:
        first = next(followed.iter_bytes())
        assert first.startswith(b"RIFF")
        assert server.cancel(job_id) == "running"
        assert server.finish(job_id)["status"] == "cancelled"
    assert 0 < server.job(job_id)["progress"] < 0.5


def test_text_that_the_voice_cannot_read_is_refused(server: ServerProcess) -> None:
    answer = server.client.post("/speech", json={"text": "おはようございます"})
    assert (answer.status_code, answer.json()["code"], answer.json()["field"]) == (
        400,
        "invalid_field",
        "text",
    )


def test_a_streamed_file_that_tells_no_length_is_heard_to_its_end(server: ServerProcess) -> None:
    said = speech(server, text="Good evening. The lamp is on the table.", output_format="flac", seed=1)
    server.finish(said)
    raw = bytearray(server.client.get("/job", params={"id": said, "result": 1}).content)
    raw[21] &= 0xF0  # the low 36 bits of eight bytes at 18: the total of samples, in RFC 9639
    raw[22:26] = bytes(4)
    sent = server.client.post("/transcribe", content=bytes(raw), headers={"Content-Type": "audio/flac"})
    assert sent.json()["eta_source"] == "budget"  # how fast it listens is known by now, but not for how long
    job_id = sent.json()["id"]
    assert server.finish(job_id)["status"] == "done"
    heard = server.client.get("/job", params={"id": job_id, "result": 1}).json()
    assert words(heard["text"]) == words("Good evening. The lamp is on the table.")


@pytest.mark.parametrize("upload", [b"RIFF\xff\xff\xff\xffWAVEfmt ", b"\x1aE\xdf\xa3" * 50, b"OggS" * 99, b"fLaC" + bytes(500), b"ID3" + b"\xff" * 500, b"\0" * 5000])  # fmt: skip
def test_hostile_uploads_are_refused_or_fail_their_job(server: ServerProcess, upload: bytes) -> None:
    answer = server.client.post("/transcribe", content=upload, headers={"Content-Type": "audio/mpeg"})
    if answer.status_code == 202:
        job = server.finish(answer.json()["id"])
        assert (job["status"], job["code"]) == ("failed", "invalid_field")
    else:
        assert (answer.status_code, answer.json()["field"]) == (400, "audio")
