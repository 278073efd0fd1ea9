"""Calls of OpenAI's speech, against the models present."""

import io
import json

import numpy as np
import pytest

from engine.audio import decode
from engine.catalogue import Catalogue
from engine.control import Uncontrolled
from engine.errors import EngineError, InvalidRequest, UnknownModel
from engine.request import SongRequest
from engine.song_model import Latents
from server.compatible.speaking import NOT_FOLLOWED, Speaking
from server.compatible.speech import SpeechCall
from server.operations import Operations
from server.speech_operations import SpeechOperations
from server.work import Making, Prepared, Stopwatch
from tests.server.sound_doubles import RATE_HZ, SpeechDouble
from tests.server.yue2_double import Yue2Double


@pytest.fixture(scope="module")
def speaking() -> Speaking:
    return over(Catalogue(speech=[SpeechDouble()]))


def over(catalogue: Catalogue) -> Speaking:
    return Speaking(catalogue, SpeechOperations(catalogue, lambda: 3), Operations(catalogue, lambda: 5))


def call(**fields: object) -> SpeechCall:
    return SpeechCall.model_validate({"model": "tts-1", "input": "One two. Three."} | fields)


def parts_of(prepared: Prepared) -> dict[str, bytes]:
    sink = io.BytesIO()
    packed = prepared.work(Making("0" * 16, sink, Uncontrolled(), Stopwatch()))
    body = sink.getvalue()
    return {part.name: body[part.offset : part.offset + part.length] for part in packed.parts}


@pytest.mark.parametrize("model", ["", "tts-1", "tts-1-hd", "gpt-4o-mini-tts-2025-12-15", "spoken"])
def test_every_name_of_a_speaker_speaks(speaking: Speaking, model: str) -> None:
    prepared = speaking.prepare(call(model=model, voice="nova"))
    assert (prepared.operation, prepared.model) == ("speech", "spoken")
    assert (prepared.followed, prepared.notes) == ("audio/mpeg", ())
    assert prepared.digest == speaking.prepare(call(voice="one", stream_format="sse")).digest


def test_instructions_are_left_out_and_said_to_be(speaking: Speaking) -> None:
    plain, told = speaking.prepare(call()), speaking.prepare(call(instructions="Whisper."))
    assert (plain.notes, told.notes) == ((), (NOT_FOLLOWED,))
    assert told.digest == plain.digest
    assert speaking.prepare(call(instructions=" ")).notes == ()


def test_what_the_model_notes_is_told_beside_what_the_call_does(speaking: Speaking) -> None:
    asked = call(input="A whisper.", instructions="Whisper.")
    assert speaking.prepare(asked).notes == ("It is whispered.", NOT_FOLLOWED)


def test_samples_without_a_head_are_of_24_khz_and_one_channel(speaking: Speaking) -> None:
    raw, wav = (parts_of(speaking.prepare(call(response_format=name))) for name in ("pcm", "wav"))
    samples, rate = decode(io.BytesIO(wav["audio"]))
    assert (rate, samples.shape) == (RATE_HZ, (round(0.75 * RATE_HZ), 1))
    heard = np.frombuffer(raw["audio"], "<i2") / 32_768
    np.testing.assert_allclose(heard, samples[:, 0], atol=2 / 32_768)
    assert json.loads(raw["replay"])["output_format"] == "wav16"


@pytest.mark.parametrize("model", ["yue2", "music_v1"])
def test_a_model_of_songs_sings_the_input(model: str) -> None:
    speaking = over(Catalogue(yue2=Yue2Double(), speech=[SpeechDouble()]))
    song = speaking.prepare(
        call(model=model, input="[Verse]\nLa", instructions="folk", response_format="pcm")
    )
    assert (song.operation, song.model, song.followed, song.notes) == ("synth", "yue2", "", ())


def test_a_song_without_a_head_is_mixed_down_to_24_khz(speaking: Speaking) -> None:
    parts = parts_of(speaking.prepare(call(model="sketch", input="[Verse]\nLa la la", response_format="pcm")))
    replay = json.loads(parts["replay"])
    assert (replay["lyrics"], replay["output_format"]) == ("[Verse]\nLa la la", "wav16")
    assert len(parts["audio"]) % 2 == 0
    assert np.abs(np.frombuffer(parts["audio"], "<i2")).max() > 1_000


@pytest.mark.parametrize(
    ("fields", "kind", "field", "told"),
    [
        (
            {"voice": "nobody"},
            InvalidRequest,
            "voice",
            "There is no voice 'nobody' here; choose one of this server's, one, or a name of OpenAI's: alloy, ash",
        ),
        ({"model": "loud"}, UnknownModel, "model", "choose one of: sketch, spoken, tts-1"),
        ({"model": "yue2"}, UnknownModel, "model", "set YUE2_MODEL"),
        ({"model": "whisper-1"}, InvalidRequest, "model", "is not one that speaks"),
        ({"model": "sketch", "speed": 2.0}, InvalidRequest, "speed", "Songs have the speed of their style"),
        ({"input": "x" * 100_001}, InvalidRequest, "input", "input must have at most 100000 characters"),
        (
            {"model": "sketch", "input": "x" * 32_001},
            InvalidRequest,
            "input",
            "input must have at most 32000",
        ),
    ],
)
def test_what_cannot_be_done_is_told_in_the_callers_words(
    speaking: Speaking, fields: dict[str, object], kind: type[EngineError], field: str, told: str
) -> None:
    with pytest.raises(kind) as caught:
        speaking.prepare(call(**fields))
    assert isinstance(caught.value, InvalidRequest | UnknownModel)
    assert caught.value.field == field
    assert told in str(caught.value)


@pytest.mark.parametrize("blamed", ["semantic_sampling.max_tokens", "lyrics"])
def test_a_song_that_is_too_long_is_told_without_fields_of_another_api(
    monkeypatch: pytest.MonkeyPatch, blamed: str
) -> None:
    def full(model: Yue2Double, request: SongRequest, latents: Latents | None = None) -> None:
        raise InvalidRequest(
            blamed, "Shorten lyrics, or lower abc_sampling.max_tokens or semantic_sampling.max_tokens."
        )

    monkeypatch.setattr(Yue2Double, "check", full)
    with pytest.raises(InvalidRequest) as caught:
        over(Catalogue(yue2=Yue2Double())).prepare(call(model="yue2"))
    assert caught.value.field == "input"
    assert str(caught.value).endswith("shorten input, or instructions.")


def test_what_else_a_song_is_refused_for_is_told_in_the_callers_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def strict(model: Yue2Double, request: SongRequest, latents: Latents | None = None) -> None:
        raise InvalidRequest("style", "style must name an instrument.")

    monkeypatch.setattr(Yue2Double, "check", strict)
    with pytest.raises(InvalidRequest, match=r"^instructions must name") as caught:
        over(Catalogue(yue2=Yue2Double())).prepare(call(model="yue2"))
    assert caught.value.field == "instructions"


def test_aac_without_its_library_says_how_to_get_it(
    speaking: Speaking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.audio.form.find_spec", lambda name: None)
    with pytest.raises(InvalidRequest, match=r"pip install .*\[containers\]") as caught:
        speaking.prepare(call(response_format="aac"))
    assert caught.value.field == "response_format"
