"""One logical call to speak, by each of OpenAI's Python clients, against models that a test holds."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import httpx2
import openai

from engine.catalogue import Catalogue
from server.calls.attendance import Later, on_the_loop
from tests.clients.held import HeldSpeech
from tests.clients.studio import Studio, serving
from tests.server.server_check import SilentModel

SPEECH: Final = "/v1/audio/speech"
TWO: Final = "One two. Three four."
SECONDS: Final = 1.0  # of TWO, at a quarter of a second a word
BLOCKER: Final = "Wait here."
Call = Callable[..., bytes]


def speak(url: str, text: str = TWO, headers: Mapping[str, str] | None = None, **options: Any) -> bytes:
    """Speak by the synchronous client; `options` are the client's."""
    with openai.OpenAI(base_url=f"{url}/v1", api_key="none", **options) as client:
        made = client.audio.speech.create(
            model="tts-1", voice="alloy", input=text, response_format="wav", extra_headers=headers
        )
        return made.read()


def speak_asynchronously(
    url: str, text: str = TWO, headers: Mapping[str, str] | None = None, **options: Any
) -> bytes:
    """Speak by the asynchronous client."""

    async def call() -> bytes:
        async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none", **options) as client:
            made = await client.audio.speech.create(
                model="tts-1", voice="alloy", input=text, response_format="wav", extra_headers=headers
            )
            return await made.aread()

    return asyncio.run(call())


def again(studio: Studio) -> httpx2.Response:
    """The last call once more, as its client makes it when it tries again."""
    last = studio.witness.posts(SPEECH)[-1]
    kept = {name: last.headers[name] for name in ("authorization", "content-type", "accept")}
    return studio.native.post(SPEECH, content=last.body, headers={**kept, "x-stainless-retry-count": "1"})


CALLS: Final = {"synchronous": speak, "asynchronous": speak_asynchronously}


@contextmanager
def speaking(
    folder: Path, speech: HeldSpeech, later: Later = on_the_loop, **settings: str
) -> Iterator[Studio]:
    """A server with that speaker; settings without their prefix."""
    environ = {f"YUE2_{name.upper()}": value for name, value in settings.items()}
    with serving(folder, Catalogue(SilentModel(), speech=[speech]), environ, later) as running:
        yield running
