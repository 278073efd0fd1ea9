"""`/v1/models`, read by OpenAI's own client."""

from collections.abc import Iterator

import openai
import pytest
from starlette.routing import Router
from starlette.testclient import TestClient

from engine.catalogue import Catalogue
from server.access import HostRule, Keys, OriginRule, PublicPaths
from server.compatible.names import VENDOR_NAMES, Kind
from server.edge import Admittance, Edge
from server.routes.openai_models import OpenAiModelRoutes
from tests.server.sound_doubles import SpeechDouble, TranscriptionDouble

STARTED_AT = 1_790_000_000.75


def serve(catalogue: Catalogue) -> TestClient:
    admittance = Admittance(
        HostRule(frozenset(), True), OriginRule(frozenset()), Keys((), b""), PublicPaths(frozenset())
    )
    return TestClient(
        Edge(Router(OpenAiModelRoutes(catalogue, STARTED_AT).routes()), admittance, lambda: "drawn-id"),
        base_url="http://127.0.0.1",
    )


@pytest.fixture(scope="module")
def server() -> Iterator[TestClient]:
    with serve(Catalogue(speech=[SpeechDouble()], transcription=[TranscriptionDouble()])) as client:
        yield client


@pytest.fixture
def client(server: TestClient) -> openai.OpenAI:
    return openai.OpenAI(api_key="unused", base_url="http://127.0.0.1/v1", http_client=server)


def test_the_list_has_our_models_and_the_vendors_names(client: openai.OpenAI) -> None:
    models = list(client.models.list())
    assert [model.id for model in models] == [
        "sketch",
        "spoken",
        "heard",
        *(name for kind in Kind for name in VENDOR_NAMES[kind]),
    ]
    assert {(model.object, model.created, model.owned_by) for model in models} == {
        ("model", 1_790_000_000, "yue2-studio")
    }


@pytest.mark.parametrize("name", ["sketch", "spoken", "whisper-1", "gpt-4o-mini-tts-2025-12-15"])
def test_each_is_found_by_its_name(client: openai.OpenAI, name: str) -> None:
    assert client.models.retrieve(name).id == name


@pytest.mark.parametrize("name", ["gpt-5", "Systran/faster-whisper-small", "x" * 5000])
def test_another_name_is_answered_with_those_that_work(client: openai.OpenAI, name: str) -> None:
    with pytest.raises(openai.NotFoundError) as missing:
        client.models.retrieve(name)
    assert (missing.value.code, missing.value.param, missing.value.type) == (
        "model_not_found",
        "model",
        "invalid_request_error",
    )
    assert missing.value.request_id == "drawn-id"
    assert "choose one of: sketch, spoken, heard, tts-1" in str(missing.value)
    assert name[:80] in str(missing.value)


def test_vendors_names_of_a_kind_that_is_not_here_are_neither_listed_nor_found() -> None:
    with serve(Catalogue()) as client:
        assert [model["id"] for model in client.get("/v1/models").json()["data"]] == [
            "sketch",
            *VENDOR_NAMES[Kind.MUSIC],
        ]
        assert client.get("/v1/models/whisper-1").status_code == 404
        assert client.get("/v1/models/music_v1").status_code == 200


def test_an_id_may_hold_a_slash() -> None:
    double = SpeechDouble()
    double.id = "hexgrad/Kokoro-82M"
    with serve(Catalogue(speech=[double])) as client:
        for path in ("hexgrad/Kokoro-82M", "hexgrad%2FKokoro-82M"):
            assert client.get(f"/v1/models/{path}").json()["id"] == "hexgrad/Kokoro-82M"
        assert client.get("/v1/models/").json()["error"]["code"] == "model_not_found"


def test_models_are_only_read(server: TestClient) -> None:
    answer = server.delete("/v1/models/spoken")
    assert (answer.status_code, answer.json()["error"]["code"]) == (405, "method_not_supported")
