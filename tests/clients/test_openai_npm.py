"""OpenAI's npm package makes the same calls, and as few jobs."""

import base64
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import pysubs2
import pytest

from tests.clients.cutting_proxy import Cut, CuttingProxy
from tests.clients.heard import hear, hear_raw
from tests.clients.held import HeldSpeech, Pause
from tests.clients.npm import run, seconds_of
from tests.clients.speaking import SECONDS, SPEECH, speaking
from tests.clients.sse import events
from tests.clients.studio import Studio
from tests.clients.texts import is_understood

pytestmark = pytest.mark.runtime
SAID: Final = "The morning train leaves at nine."


@pytest.fixture(scope="module")
def every(studio: Studio) -> dict[str, Any]:
    """Each call once."""
    return run(studio.url, "every")


def test_speech_is_whole_streamed_and_told_in_events(every: dict[str, Any]) -> None:
    speech = every["speech"]
    assert speech["type"] == "audio/wav"
    whole = hear(base64.b64decode(speech["wav"]))
    assert (whole.codec, whole.rate_hz, whole.channels) == ("pcm_s16le", 24_000, 1)
    assert whole.loudness > 0.01
    assert hear_raw(base64.b64decode(speech["pcm"]), 24_000, 1).seconds == pytest.approx(
        whole.seconds, rel=0.2
    )
    assert speech["pieces"] >= 1
    *deltas, done = [json.loads(event.text) for event in events([speech["events"].encode()])]
    told = b"".join(base64.b64decode(event["audio"]) for event in deltas)
    assert hear_raw(told, 24_000, 1).seconds == pytest.approx(whole.seconds, rel=0.2)
    assert done["type"] == "speech.audio.done"


def test_transcripts_are_typed_streamed_and_subtitled(every: dict[str, Any]) -> None:
    heard = every["transcription"]
    assert is_understood(heard["json"]["text"], SAID)
    assert is_understood(pysubs2.SSAFile.from_string(heard["srt"], format_="srt")[0].plaintext, SAID)
    verbose = heard["verbose"]
    assert (verbose["language"], len(verbose["segments"]) > 0) == ("english", True)
    assert is_understood(" ".join(word["word"] for word in verbose["words"]), SAID)
    *deltas, done = heard["streamed"]
    assert done["type"] == "transcript.text.done"
    assert "".join(event["delta"] for event in deltas) == done["text"]
    assert is_understood(done["text"], SAID)


def test_models_are_listed_and_errors_are_typed(every: dict[str, Any]) -> None:
    assert {"tts-1", "whisper-1"} <= {model["id"] for model in every["models"]["listed"]}
    assert every["models"]["one"]["object"] == "model"
    missing, refused = every["missing"], every["refused"]
    assert (missing["kind"], missing["code"]) == ("NotFoundError", "model_not_found")
    assert (refused["kind"], refused["param"]) == ("BadRequestError", "voice")
    assert missing["request"]
    assert refused["request"]


def test_a_client_that_loses_patience_finds_its_job_again(tmp_path: Path) -> None:
    pause = Pause()
    with speaking(tmp_path, HeldSpeech({0: pause})) as studio, ThreadPoolExecutor() as pool, pause:
        made = pool.submit(run, studio.url, "speak", client={"timeout": 400})
        studio.witness.wait(SPEECH, lambda seen: len(seen) == 2 and seen[0].ended)
        pause.release()
        assert seconds_of(made.result()) == pytest.approx(SECONDS, abs=0.01)
        assert [one.attempt for one in studio.witness.posts(SPEECH)][:2] == ["0", "1"]
        assert studio.jobs == 1


def test_what_the_client_says_of_its_patience_is_kept_to(tmp_path: Path) -> None:
    pause = Pause()
    with speaking(tmp_path, HeldSpeech({0: pause})) as studio, pause:
        failure = run(studio.url, "speak", request={"timeout": 2000})["failure"]
        assert (failure["status"], failure["code"]) == (504, "deadline_exceeded")
        assert failure["job"] == studio.gate.wait_for(1)
        assert len(studio.witness.posts(SPEECH)) == 1
        pause.release()
        assert studio.finish(failure["job"])["status"] == "done"
        assert studio.jobs == 1


def test_a_broken_connection_makes_one_job(tmp_path: Path) -> None:
    """The first connection breaks while the request is sent, the second while the headers of its answer come."""
    with speaking(tmp_path, HeldSpeech()) as studio, CuttingProxy(studio.port) as proxy:
        proxy.plan(Cut(sent=100), Cut(received=1))
        made = run(proxy.url, "speak")
        assert seconds_of(made) == pytest.approx(SECONDS, abs=0.01)
        assert [one.attempt for one in studio.witness.posts(SPEECH)][-1] == "2"
        assert studio.jobs == 1
