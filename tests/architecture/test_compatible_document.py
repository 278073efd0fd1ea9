"""docs/compatible.md tells the routes, names, formats and codes that there are, and its calls are understood."""

import io
import json
import re
import shlex
from collections.abc import Iterator
from itertools import pairwise

import httpx2
import numpy as np
import pytest

from engine.audio import AudioForm, encode
from engine.catalogue import Catalogue
from server.compatible.music_formats import FORMS
from server.compatible.names import VENDOR_NAMES
from server.compatible.speech import SpeechCall, read_speech_call
from server.compatible.voices import OPENAI_VOICES
from server.envelopes import error_body
from server.errors import ANSWERS, DeadlineExceeded, JobFailed
from tests.architecture.documents import ROOT, code, fenced_blocks, fenced_lines, section, table_rows
from tests.server.product import Product, product
from tests.server.server_check import SilentModel
from tests.server.sound_doubles import SpeechDouble, TranscriptionDouble

PATH = ROOT / "docs" / "compatible.md"
TEXT = PATH.read_text(encoding="utf-8")
API = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
ADDRESS = "http://127.0.0.1:8000"
MINIMAL = {"model": "tts-1", "input": "Good morning.", "voice": "alloy"}


def test_every_name_of_a_model_is_documented() -> None:
    told = {row[0]: tuple(code(row[1])) for row in table_rows(section(TEXT, "## Models"), 2)}
    assert told == {kind.value: names for kind, names in VENDOR_NAMES.items()}


def test_every_voice_is_documented() -> None:
    (told,) = re.findall(r"^\*\*Voices\.\*\* (.*?)\. ", section(TEXT, "## Speech"), re.MULTILINE | re.DOTALL)
    assert code(told) == sorted(OPENAI_VOICES)


def test_every_field_of_speech_is_documented_with_its_default() -> None:
    rows = table_rows(section(TEXT, "## Speech"), 3)
    told = {code(row[0])[0]: row[1] for row in rows if row[1] == "needed" or row[1][1:-1] in _defaults()}
    assert set(told) == set(SpeechCall.model_fields)
    for name, default in told.items():
        field = SpeechCall.model_fields[name]
        assert (default == "needed") == field.is_required()
        assert default == "needed" or json.loads(default.strip("`")) == field.default


def _defaults() -> set[str]:
    return {
        json.dumps(field.default) for field in SpeechCall.model_fields.values() if not field.is_required()
    }


def test_every_format_of_speech_is_documented_with_its_type() -> None:
    rows = [row for row in table_rows(section(TEXT, "## Speech"), 3) if row[1].startswith("`audio/")]
    told = {code(row[0])[0]: code(row[1])[0] for row in rows}
    formats = {name: read_speech_call({**MINIMAL, "response_format": name}).form for name in told}
    assert told == {name: form.content_type for name, form in formats.items()}
    assert len(told) == 6


def test_every_format_of_music_is_documented() -> None:
    told = [name for row in table_rows(section(TEXT, "## Music"), 2) for name in code(row[0])]
    assert sorted(told) == sorted(FORMS)


def test_codes_of_errors_are_those_of_the_envelope() -> None:
    """What the native page does not tell with the same status and code this one does."""
    below = [error_body(JobFailed(answer.code, ""), path="/v1/models") for answer in ANSWERS.values()]
    answered = {(status, _code_of(body)) for status, _, body in below}
    told = {(int(row[0]), code(row[1])[0]) for row in table_rows(section(TEXT, "## Errors"), 4)}
    native = {(int(row[0]), code(row[1])[0]) for row in table_rows(section(API, "## Errors"), 3)}
    assert told - answered == set()
    assert answered - native - told == set()


def _code_of(body: object) -> str:
    assert isinstance(body, dict)
    return str(body["error"]["code"])


def test_what_an_error_looks_like() -> None:
    shown = json.loads(fenced_blocks(section(TEXT, "## Errors"), "json")[0])
    status, _, body = error_body(LookupError(), path="/v1/music")
    assert status == 500
    assert isinstance(body["error"], dict)
    assert isinstance(body["detail"], dict)
    assert shown["error"].keys() == body["error"].keys()
    assert shown["detail"].keys() == body["detail"].keys()


def test_what_a_passed_deadline_looks_like() -> None:
    shown = json.loads(fenced_blocks(section(TEXT, "## One call, one job"), "json")[0])
    late = DeadlineExceeded("5f0c", 600)
    status, _, body = error_body(late, path="/v1/audio/speech", job_id="5f0c")
    assert status == 504
    assert isinstance(body["error"], dict)
    assert shown.keys() == body.keys()
    assert shown["error"].keys() == body["error"].keys()
    assert {**shown["error"], "message": "", "job_id": ""} == {**body["error"], "message": "", "job_id": ""}


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """The product with doubles of every kind of model."""
    models = Catalogue(SilentModel(), speech=[SpeechDouble()], transcription=[TranscriptionDouble()])
    with product(tmp_path_factory.mktemp("compatible"), catalogue=models) as running:
        yield running


def flac() -> bytes:
    sink = io.BytesIO()
    encode(np.full((4800, 1), 0.25, np.float32), 48_000, AudioForm("flac"), sink)
    return sink.getvalue()


def sent(studio: Product, words: list[str]) -> httpx2.Response:
    """What curl would send, answered by the product."""
    options, pairs = dict(pairwise(words)), list(pairwise(words))
    address = next(word for word in words if word.startswith(ADDRESS))
    forms = [word.partition("=") for flag, word in pairs if flag == "-F"]
    plain = {name: value for name, _, value in forms if not value.startswith("@")}
    files = {name: (value[1:], flac()) for name, _, value in forms if value.startswith("@")}
    headers = dict(word.split(": ", 1) for flag, word in pairs if flag == "-H")
    if "-d" not in options and not forms:
        return studio.client.get(address, headers=headers)
    body = options.get("-d", "").encode() or None
    return studio.client.post(address, headers=headers, content=body, data=plain, files=files or None)


def test_the_calls_shown_are_understood(studio: Product) -> None:
    types = []
    for words in (shlex.split(line.text) for line in fenced_lines(PATH, "sh")):
        answer = sent(studio, words)
        assert answer.status_code == 200, answer.text
        address = next(word for word in words if word.startswith(ADDRESS))
        path = address.removeprefix(f"{ADDRESS}/v1/").partition("?")[0]
        types.append((path, answer.headers["content-type"].partition(";")[0]))
    assert types == [
        ("audio/speech", "audio/mpeg"),
        ("audio/transcriptions", "application/json"),
        ("music", "audio/mpeg"),
        ("models", "application/json"),
        ("audio/speech", "text/event-stream"),
        ("audio/speech", "audio/mpeg"),
        ("audio/transcriptions", "text/event-stream"),
        ("music/plan", "application/json"),
        ("music/detailed", "multipart/mixed"),
        ("audio/speech", "audio/mpeg"),
    ]
