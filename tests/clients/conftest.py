"""One running server with the models that come along, for all tests that only call it."""

from collections.abc import Iterator

import httpx
import openai
import pytest
from elevenlabs.client import ElevenLabs

from engine.catalogue import open_catalogue
from tests.clients.studio import Studio, serving
from tests.clients.texts import TEXT


@pytest.fixture(scope="session")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    """The server; each test leaves its queue empty."""
    folder = tmp_path_factory.mktemp("studio")
    with serving(folder, open_catalogue(None), {"YUE2_QUEUE_LIMIT": "16"}) as running:
        yield running


@pytest.fixture(scope="session")
def client(studio: Studio) -> Iterator[openai.OpenAI]:
    """OpenAI's client as its documentation makes one, but that it does not retry."""
    with openai.OpenAI(base_url=f"{studio.url}/v1", api_key="none", max_retries=0) as made:
        yield made


@pytest.fixture(scope="session")
def eleven(studio: Studio) -> Iterator[ElevenLabs]:
    """ElevenLabs' client as its documentation makes one, but that its connections are closed in the end."""
    with httpx.Client(timeout=240) as http:
        yield ElevenLabs(base_url=studio.url, api_key="none", httpx_client=http)


@pytest.fixture(scope="session")
def spoken(client: openai.OpenAI) -> bytes:
    """TEXT as a FLAC file."""
    answer = client.audio.speech.create(model="tts-1", voice="alloy", input=TEXT, response_format="flac")
    return answer.read()
