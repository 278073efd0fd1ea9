"""A job that fails after its first sound was sent: no client takes the part for the whole, none makes a second job."""

import json
from pathlib import Path
from typing import BinaryIO

import httpx2
import numpy as np
import openai
import pytest
from openai.types.audio import TranscriptionTextDeltaEvent

from engine.catalogue import Catalogue
from engine.control import Control
from engine.transcription_model import Heard, Transcript, unheard
from engine.transcription_request import TranscriptionRequest
from tests.clients.heard import Heard as Sound
from tests.clients.heard import as_wav
from tests.clients.held import HeldSpeech, Pause
from tests.clients.speaking import CALLS, SPEECH, TWO, Call, speaking
from tests.clients.sse import events
from tests.clients.studio import Studio, serving
from tests.server.sound_doubles import TranscriptionDouble

pytestmark = pytest.mark.runtime
SILENCE = as_wav(Sound("", "", 16_000, np.zeros((16_000, 1)), 0))


class Fault(RuntimeError):
    """What goes wrong in the model."""


class Stumbling(HeldSpeech):
    """Says one sentence, stops at the pause, and fails at the second."""

    def __init__(self, pause: Pause) -> None:
        super().__init__({1: pause})

    def _stop_before(self, number: int) -> None:
        super()._stop_before(number)
        if number == 1:
            raise Fault


class Forgetting(TranscriptionDouble):
    """Tells its only segment, stops at the pause, and fails."""

    def __init__(self, pause: Pause) -> None:
        super().__init__()
        self._pause = pause

    def transcribe(
        self, audio: BinaryIO, request: TranscriptionRequest, control: Control, heard: Heard = unheard
    ) -> Transcript:
        """As the double does, and no further."""
        super().transcribe(audio, request, control, heard)
        self._pause()
        raise Fault


def failed(studio: Studio) -> dict[str, object]:
    """The only job there was."""
    job = studio.finish(studio.gate.wait_for(1))
    assert job["status"] == "failed"
    assert studio.jobs == 1
    return job


def test_a_stream_breaks_off_and_does_not_seem_whole(tmp_path: Path) -> None:
    pause = Pause()
    with (
        speaking(tmp_path, Stumbling(pause)) as studio,
        openai.OpenAI(base_url=f"{studio.url}/v1", api_key="none") as client,
        client.audio.speech.with_streaming_response.create(
            model="tts-1", voice="alloy", input=TWO, response_format="pcm"
        ) as made,
        pause,
    ):
        chunks = made.iter_bytes()
        assert next(chunks)
        pause.release()
        with pytest.raises(httpx2.TransportError):
            b"".join(chunks)
        assert made.headers["x-yue2-job-id"] == failed(studio)["id"]
        assert len(studio.witness.posts(SPEECH)) == 1


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS.keys())
def test_a_call_that_keeps_the_whole_is_told_how_the_job_failed(tmp_path: Path, call: Call) -> None:
    """Its first attempt breaks off; the second finds the job, and how it ended."""
    pause = Pause()
    pause.release()
    with speaking(tmp_path, Stumbling(pause)) as studio:
        with pytest.raises(openai.APIStatusError) as told:
            call(studio.url, headers={"x-stainless-lang": "another"})
        assert told.value.code == failed(studio)["code"]
        assert told.value.response.headers["x-should-retry"] == "false"
        assert len(studio.witness.posts(SPEECH)) <= 2


def test_events_end_with_what_went_wrong(tmp_path: Path) -> None:
    pause = Pause()
    with (
        speaking(tmp_path, Stumbling(pause)) as studio,
        openai.OpenAI(base_url=f"{studio.url}/v1", api_key="none") as client,
        client.audio.speech.with_streaming_response.create(
            model="tts-1", voice="alloy", input=TWO, response_format="pcm", stream_format="sse"
        ) as made,
        pause,
    ):
        seen = []
        for event in events(made.iter_bytes()):
            seen.append(json.loads(event.text))
            pause.release()
        *deltas, last = seen
        assert deltas
        assert {event["type"] for event in deltas} == {"speech.audio.delta"}
        assert last["type"] == "error"
        assert last["error"].keys() >= {"message", "type", "param", "code"}
        assert (last["error"]["type"], last["error"]["code"]) == ("server_error", failed(studio)["code"])


def test_a_streamed_transcript_raises_in_the_client(tmp_path: Path) -> None:
    pause = Pause()
    with (
        serving(tmp_path, Catalogue(transcription=[Forgetting(pause)])) as studio,
        openai.OpenAI(base_url=f"{studio.url}/v1", api_key="none") as client,
        pause,
    ):
        stream = client.audio.transcriptions.create(
            model="gpt-4o-transcribe", file=("silence.wav", SILENCE), stream=True
        )
        first = next(stream)
        assert isinstance(first, TranscriptionTextDeltaEvent)
        pause.release()
        with pytest.raises(openai.APIError) as told:
            list(stream)
        assert told.value.code == failed(studio)["code"]
        assert len(studio.witness.posts("/v1/audio/transcriptions")) == 1
