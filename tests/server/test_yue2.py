"""The server around a real, tiny YuE2: a song, its replay, its latents, its codec, a song that is stopped."""

import io
import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from engine.audio import decode
from server.errors import SettingsError
from server.serve import opened
from server.settings import load
from tests.architecture.documents import ROOT
from tests.server.product import Product, product

pytestmark = pytest.mark.runtime  # torch and weights take seconds
WEIGHTS = {
    "YUE2_MODEL": str(ROOT / "tests/data/yue2/YuE2-3B-tiny"),
    "YUE2_VAE": str(ROOT / "tests/data/yue2/YuE2-Vae-tiny"),
    "YUE2_DEVICE": "cpu",
    "YUE2_PRECISION": "fp32",
}
SONG = {
    "style": "folk",
    "lyrics": "[Verse]\none two\n",
    "duration": 0.4,
    "steps": 2,
    "lm_seed": 3,
    "seed": 5,
    "output": "latents",
    "output_format": "wav32",
    "abc_sampling": {"min_tokens": 4, "max_tokens": 8},
    "semantic_sampling": {"min_tokens": 5, "max_tokens": 10},
}


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    with product(tmp_path_factory.mktemp("yue2"), WEIGHTS) as running:
        yield running


@pytest.fixture(scope="module")
def song(studio: Product) -> str:
    """The id of a song that has been sung."""
    return studio.made("/synth", **SONG)


def part_of(studio: Product, job_id: str, name: str) -> bytes:
    answer = studio.client.get("/job", params={"id": job_id, name: 0})
    assert answer.status_code == 200, answer.text
    return answer.content


def test_a_song_is_sung_by_the_default_model(studio: Product, song: str) -> None:
    job = studio.finish(song)
    samples, rate = decode(io.BytesIO(part_of(studio, song, "track")))
    assert (job["model"], job["progress"], rate, samples.shape[1]) == ("yue2", 1.0, 48_000, 2)
    assert job["tracks"]["items"][0]["seconds"] == pytest.approx(len(samples) / rate)
    assert np.isfinite(samples).all()
    assert samples.any()


def test_its_replay_gives_it_again_bit_for_bit(studio: Product, song: str) -> None:
    replay = json.loads(part_of(studio, song, "replay"))
    again = studio.made("/synth", **replay)
    assert replay["semantic_tokens"]
    assert replay["fingerprint"]
    assert studio.finish(again)["notes"] == []
    for name in ("track", "latents"):
        assert part_of(studio, again, name) == part_of(studio, song, name)


def test_its_latents_sent_back_give_it_again(studio: Product, song: str) -> None:
    replay, latents = part_of(studio, song, "replay"), part_of(studio, song, "latents")
    octets = "application/octet-stream"
    parts = {"request": ("r", replay, "application/json"), "latents": ("l", latents, octets)}
    answer = studio.client.post("/synth", files=parts)
    assert answer.status_code == 202, answer.text
    assert studio.finish(answer.json()["id"])["status"] == "done"
    assert part_of(studio, answer.json()["id"], "track") == part_of(studio, song, "track")


def test_its_codec_decodes_the_latents_alike_and_encodes_them_again(studio: Product, song: str) -> None:
    latents = part_of(studio, song, "latents")
    octets = {"Content-Type": "application/octet-stream"}
    decoded = studio.client.post("/vae?op=decode&output_format=wav32", content=latents, headers=octets)
    assert studio.finish(decoded.json()["id"])["status"] == "done"
    audio = part_of(studio, decoded.json()["id"], "track")
    assert audio == part_of(studio, song, "track")
    encoded = studio.client.post("/vae?op=encode", content=audio, headers={"Content-Type": "audio/wav"})
    job = studio.finish(encoded.json()["id"])
    rows = np.frombuffer(part_of(studio, job["id"], "latents"), "<f4").reshape(-1, 64)
    assert job["operation"] == "vae"
    assert abs(len(rows) - len(latents) // 256) <= 1
    assert np.isfinite(rows).all()


def test_a_song_that_is_cancelled_stops_and_the_next_is_sung(studio: Product, song: str) -> None:
    long = SONG | {"duration": 60, "semantic_sampling": {"min_tokens": 1500, "max_tokens": 1500}}
    job_id = studio.submit("/synth", **long)
    phase = ""
    while phase != "semantic":
        phase = studio.client.get("/job", params={"id": job_id}).json()["phase"]
    studio.client.post("/job", params={"id": job_id, "cancel": 1})
    assert studio.finish(job_id)["status"] == "cancelled"
    again = studio.made("/synth", **SONG)
    assert part_of(studio, again, "track") == part_of(studio, song, "track")


def test_what_is_no_model_stops_the_start(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=str(tmp_path)):
        opened(load(WEIGHTS | {"YUE2_MODEL": str(tmp_path)}))
