"""The README's first song, its commands typed as they stand, against a running server.

`python -m tests.first_song --url http://127.0.0.1:8000` waits for the server, makes the song and listens to it; with
`--yue2` the song is three seconds by YuE2, whose tiny checkpoint sings noise.
"""

import argparse
import io
import json
import shlex
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import httpx2
import numpy as np

from engine.audio import decode
from engine.score import parse

README = Path(__file__).parents[1] / "README.md"
DOCUMENTED = "http://127.0.0.1:8000"
SECTION = "## Make a song"
LEAST_UNDERSTOOD = 0.3  # of the different words; a seed is drawn anew each time


@dataclass(frozen=True, slots=True)
class Heard:
    """What listening to the song found."""

    seconds: float
    peak: float
    sections: tuple[str, ...]
    words: tuple[str, ...] = ()  # that the replay says are sung
    understood: str = ""  # what the server itself writes down of it


def commands(heading: str) -> list[str]:
    """The shell blocks of one section of the README, continued lines joined."""
    section = README.read_text(encoding="utf-8").partition(heading)[2].partition("\n## ")[0]
    blocks = section.split("```sh\n")[1:]
    return [block.partition("\n```")[0].replace("\\\n", "") for block in blocks]


def typed(command: str, client: httpx2.Client, job_id: str = "") -> httpx2.Response:
    """What curl would do with such a command: -s, -S, -o FILE, -H HEADER, -d BODY and an address are known."""
    words = iter(shlex.split(command.replace("ID&", f"{job_id}&").replace("ID'", f"{job_id}'")))
    assert next(words) == "curl"
    address, headers, body = "", {}, None
    for word in words:
        if word == "-H":
            name, _, value = next(words).partition(": ")
            headers[name] = value
        elif word == "-d":
            body = next(words)
        elif word == "-o":
            next(words)
        elif word not in ("-s", "-S", "-sS"):
            address = word
    path = address.removeprefix(DOCUMENTED)
    answer = client.request("GET" if body is None else "POST", path, headers=headers, content=body)
    return answer.raise_for_status()


def first_song(client: httpx2.Client) -> Heard:
    """Make the README's song and listen to it. Raises AssertionError where it fails."""
    submit, ask, fetch = (command for command in commands(SECTION) if command.startswith("curl"))
    job_id = typed(submit, client).json()["id"]
    job = typed(ask, client, job_id).json()
    while job["status"] in ("queued", "running"):
        job = typed(ask, client, job_id).json()
    assert job["status"] == "done", job
    song = typed(fetch, client, job_id).content
    samples, rate = decode(io.BytesIO(song))
    replay = json.loads(client.get("/job", params={"id": job_id, "replay": 0}).text)
    names = tuple(section.name.lower() for section in parse(replay["abc"]).sections)
    words = tuple(word["word"] for word in replay["words"])
    peak = float(np.abs(samples).max())
    return Heard(len(samples) / rate, peak, names, words, written_down(client, song))


def written_down(client: httpx2.Client, song: bytes) -> str:
    """What the server's own transcription says of a song. Raises AssertionError where it fails."""
    sent = client.post("/transcribe", content=song, headers={"Content-Type": "audio/mpeg"})
    job_id = sent.raise_for_status().json()["id"]
    job = client.get("/job", params={"id": job_id, "wait": 30}).json()
    while job["status"] in ("queued", "running"):
        job = client.get("/job", params={"id": job_id, "wait": 30}).json()
    assert job["status"] == "done", job
    return str(client.get("/job", params={"id": job_id, "result": 1}).json()["text"])


def share_understood(heard: Heard) -> float:
    """The share of the different words sung that are among those understood."""
    sung = {word.lower().strip(",.!?") for word in heard.words}
    understood = {word.lower().strip(",.!?") for word in heard.understood.split()}
    return len(sung & understood) / max(1, len(sung))


SHORT = {
    "style": "folk",
    "lyrics": "[Verse]\nRain on the window",
    "duration": 3,
    "steps": 2,
    "output_format": "flac",
    "abc_sampling": {"min_tokens": 8, "max_tokens": 24},
}


def first_song_of_yue2(client: httpx2.Client) -> Heard:
    """Make a short song with YuE2, which has to be the default, and listen to it. Raises AssertionError where it fails."""
    assert client.get("/props").json()["models"][0]["id"] == "yue2"
    job_id = client.post("/synth", json=SHORT).raise_for_status().json()["id"]
    job = client.get("/job", params={"id": job_id, "wait": 30}).json()
    while job["status"] in ("queued", "running"):
        job = client.get("/job", params={"id": job_id, "wait": 30}).json()
    assert job["status"] == "done", job
    samples, rate = decode(io.BytesIO(client.get("/job", params={"id": job_id, "track": 0}).content))
    replay = json.loads(client.get("/job", params={"id": job_id, "replay": 0}).text)
    assert len(replay["semantic_tokens"].split(",")) <= 75
    assert replay["fingerprint"]["device"]
    return Heard(len(samples) / rate, float(np.abs(samples).max()), ())


def wait_for(client: httpx2.Client, seconds: float, pause: Callable[[float], None] = time.sleep) -> None:
    """Return once the server answers. Raises TimeoutError."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            client.get("/health").raise_for_status()
        except httpx2.TransportError:
            if time.monotonic() > deadline:
                raise TimeoutError(f"nothing answered within {seconds:.0f} s") from None
            pause(0.2)
        else:
            return


def main() -> int:
    """Make the song of the README and say what was heard."""
    options = argparse.ArgumentParser()
    options.add_argument("--url", default=DOCUMENTED)
    options.add_argument("--patience", type=float, default=600.0, help="seconds to wait for the server")
    options.add_argument("--yue2", action="store_true", help="the song is a short one by YuE2")
    chosen = options.parse_args()
    with httpx2.Client(base_url=chosen.url, timeout=60, trust_env=False) as client:
        wait_for(client, chosen.patience)
        heard = first_song_of_yue2(client) if chosen.yue2 else first_song(client)
    print(
        f"the first song: {heard.seconds:.1f} s, peak {heard.peak:.2f}, sections {', '.join(heard.sections)}"
    )
    if chosen.yue2:
        return 0 if 0 < heard.seconds <= 3 and heard.peak > 0 else 1
    print(f"sung: {' '.join(heard.words)}; understood: {heard.understood}")
    good = heard.seconds > 5 and heard.peak > 0.1 and "verse" in heard.sections
    return 0 if good and share_understood(heard) >= LEAST_UNDERSTOOD else 1


if __name__ == "__main__":
    sys.exit(main())
