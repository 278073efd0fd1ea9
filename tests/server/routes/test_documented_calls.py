"""The calls that docs/api.md shows, one after another, as curl would send them."""

import io
import json
import shlex
from collections.abc import Iterator, Mapping
from itertools import pairwise

import numpy as np
import pytest

from engine.audio import AudioForm, encode
from engine.catalogue import Catalogue
from engine.speech_request import read_speech
from tests.architecture.documents import ROOT, fenced_lines
from tests.server.product import Product, product
from tests.server.sound_doubles import SpeechDouble, TranscriptionDouble
from tests.server.yue2_double import CHANNELS, Yue2Double

ADDRESS = "http://127.0.0.1:8000"
SONG = {"style": "folk", "duration": 0.2, "output_format": "wav32", "lm_seed": 3, "seed": 5}
# What each result that is asked for begins with, by its parameter.
BEGINNINGS = {
    "latents": b"",
    "follow": b"\xff",
    "replay": b"{",
    "result": b"{",
    "subtitles": b"1\n00:00:00,000",
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """The product with doubles of every kind of model."""
    models = Catalogue(yue2=Yue2Double(), speech=[SpeechDouble()], transcription=[TranscriptionDouble()])
    with product(tmp_path_factory.mktemp("whole"), catalogue=models) as running:
        yield running


def flac(seconds: float) -> bytes:
    sink = io.BytesIO()
    encode(np.full((round(seconds * 48_000), 2), 0.25, np.float32), 48_000, AudioForm("flac"), sink)
    return sink.getvalue()


def test_the_documented_calls_are_understood(whole: Product) -> None:
    replay = whole.client.get("/job", params={"id": whole.made("/synth", **SONG), "replay": 0}).content
    latents = np.linspace(-0.5, 0.5, 5 * CHANNELS, dtype="<f4").tobytes()
    files = {"@song.flac": flac(0.1), "@talk.flac": flac(0.2), "@song.f32": latents, "@replay.json": replay}
    jobs, read = list[str](), list[str]()
    for words in (shlex.split(line.text) for line in fenced_lines(ROOT / "docs" / "api.md", "sh")):
        address = next(word for word in words if word.startswith(ADDRESS))
        if "/job?" in address:
            read.append(_read(whole, address.replace("ID", jobs[-1])))
        else:
            jobs.append(_sent(whole, words, address, files))
            assert whole.finish(jobs[-1])["status"] == "done"
    assert len(jobs) == 6
    assert sorted(read) == sorted(BEGINNINGS)


def _read(studio: Product, address: str) -> str:
    """Ask for a result; the parameter that names what of it."""
    answer = studio.client.get(address.removeprefix(ADDRESS))
    assert answer.status_code == 200, answer.text
    name = next(name for name in BEGINNINGS if f"{name}=" in address)
    assert answer.content.startswith(BEGINNINGS[name])
    return name


def _sent(studio: Product, words: list[str], address: str, files: Mapping[str, bytes]) -> str:
    """Post what curl would; the job's id."""
    options = dict(pairwise(words))
    forms = [word.partition("=") for flag, word in pairwise(words) if flag == "-F"]
    sent = {}
    for name, _, value in forms:
        file, _, kind = value.partition(";type=")
        sent[name] = (file, files[file], kind or "application/octet-stream")
    body = files[options["--data-binary"]] if "--data-binary" in options else options.get("-d", "").encode()
    headers = dict([options["-H"].split(": ")]) if "-H" in options else {}
    answer = studio.client.post(address, headers=headers, content=body or None, files=sent or None)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


def test_the_documented_body_is_one_that_is_spoken() -> None:
    bodies = [
        json.loads(word)
        for line in fenced_lines(ROOT / "docs" / "api.md", "sh")
        for flag, word in pairwise(shlex.split(line.text))
        if flag == "-d"
    ]
    assert [read_speech(body).text for body in bodies] == ["Good morning! It is half past seven."]
