"""OpenAI's Python client asks which models there are, and is told what is wrong."""

from collections.abc import Iterator

import httpx2
import openai
import pytest
from openai.types import Model
from pydantic import TypeAdapter

from engine.catalogue import Catalogue
from tests.clients.studio import Studio, serving
from tests.server.sound_doubles import SpeechDouble

pytestmark = pytest.mark.runtime
KEY = "0123456789abcdef"


def test_models_are_listed_and_found(client: openai.OpenAI) -> None:
    raw = client.models.with_raw_response.list()
    body = raw.http_response.json()
    assert body.keys() == {"object", "data"}
    assert body["object"] == "list"
    for item in body["data"]:
        TypeAdapter(Model).validate_python(item, strict=True)
    listed = {model.id: model for model in raw.parse()}
    assert {"tts-1", "gpt-4o-mini-tts", "whisper-1", "gpt-4o-transcribe", "sketch", "music_v1"} <= set(listed)
    for name, model in listed.items():
        found = client.models.retrieve(name)
        assert (found.id, found.object, found.created, found.owned_by) == (
            name,
            "model",
            model.created,
            model.owned_by,
        )


@pytest.mark.parametrize("name", ["gpt-9", "some/hugging-face-model"])
def test_a_model_that_is_not_there_is_not_found(client: openai.OpenAI, name: str) -> None:
    with pytest.raises(openai.NotFoundError) as missing:
        client.models.retrieve(name)
    assert (missing.value.code, missing.value.type) == ("model_not_found", "invalid_request_error")
    with pytest.raises(openai.NotFoundError) as unspoken:
        client.audio.speech.create(model=name, voice="alloy", input="Yes.")
    assert (unspoken.value.code, unspoken.value.param) == ("model_not_found", "model")


def test_a_path_and_a_method_that_are_not_there_are_told_so(client: openai.OpenAI) -> None:
    with pytest.raises(openai.NotFoundError) as missing:
        client.post("/chat/completions", body={}, cast_to=object)
    assert missing.value.code == "unknown_url"
    assert missing.value.request_id
    with pytest.raises(openai.APIStatusError) as refused:
        client.get("/audio/speech", cast_to=object)
    assert (refused.value.status_code, refused.value.code) == (405, "method_not_supported")


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """A server that asks for a key."""
    models = Catalogue(speech=[SpeechDouble()])
    with serving(tmp_path_factory.mktemp("keyed"), models, {"YUE2_API_KEYS": f"me={KEY}"}) as running:
        yield running


def test_a_key_is_asked_for_and_taken(keyed: Studio) -> None:
    base = f"{keyed.url}/v1"
    with openai.OpenAI(base_url=base, api_key=KEY) as client:
        assert client.models.list().data
        assert client.audio.speech.create(model="tts-1", voice="alloy", input="Yes.").read()
    with openai.OpenAI(base_url=base, api_key="wrong") as client:
        with pytest.raises(openai.AuthenticationError) as refused:
            client.models.list()
        assert (refused.value.code, refused.value.type) == ("invalid_api_key", "invalid_request_error")
        assert refused.value.request_id
        with pytest.raises(openai.AuthenticationError):
            client.audio.speech.create(model="tts-1", voice="alloy", input="Yes.")
    answer = httpx2.get(f"{base}/models", trust_env=False)
    assert (answer.status_code, answer.headers["www-authenticate"].partition(" ")[0]) == (401, "Bearer")
    assert answer.json()["error"].keys() >= {"message", "type", "param", "code"}
