"""Names of OpenAI's voices, and the voices here that answer to them."""

import pytest

from engine.errors import InvalidRequest
from engine.speech.kokoro_files import VOICES
from engine.speech.network import SpeechNetwork
from engine.speech.phonemes import Phonemiser
from engine.speech.pipeline import HibariSpeech
from server.compatible.voices import OPENAI_VOICES, voice_named, voices_of

HEART = ("heart", "female")
ADAM, ECHO, EMMA = ("am_adam", "male"), ("am_echo", "male"), ("bf_emma", "female")


def test_the_voices_of_a_model_are_read_from_what_props_tells() -> None:
    model = HibariSpeech(SpeechNetwork(), Phonemiser())
    assert voices_of(model.describe()) == (HEART,)
    assert voices_of({"voices": [{"id": "one"}, 3]}) == (("one", "None"),)
    assert voices_of({}) == ()


@pytest.mark.parametrize("name", OPENAI_VOICES)
def test_every_name_is_the_one_voice_there_is(name: str) -> None:
    assert voice_named(name, [HEART]) in ("", "heart")
    assert voice_named(name, []) == ""


@pytest.mark.parametrize("name", OPENAI_VOICES)
def test_the_nearest_voice_is_taken_where_it_is_present(name: str) -> None:
    genders = {"f": "female", "m": "male"}
    present = [HEART, *((id_, genders[id_[1]]) for id_ in VOICES)]
    assert voice_named(name, present) == OPENAI_VOICES[name].nearest
    assert dict(present)[OPENAI_VOICES[name].nearest] == OPENAI_VOICES[name].gender


def test_all_names_have_a_voice_of_their_own_where_all_are_present() -> None:
    assert len(OPENAI_VOICES) == 13
    assert len({likeness.nearest for likeness in OPENAI_VOICES.values()}) == 13


def test_else_a_name_takes_turns_among_those_of_its_gender() -> None:
    present = [HEART, ADAM, ECHO, EMMA]
    assert [voice_named(name, present) for name in ("ash", "ballad", "echo", "fable", "cedar")] == [
        "am_adam",
        "am_echo",
        "am_echo",
        "am_echo",
        "am_adam",
    ]
    assert [voice_named(name, present) for name in ("alloy", "coral")] == ["heart", "bf_emma"]


def test_our_own_ids_come_before_the_names_of_others() -> None:
    assert voice_named("bf_emma", [HEART, EMMA]) == "bf_emma"
    assert voice_named("alloy", [HEART, ("alloy", "male")]) == "alloy"


def test_no_name_is_the_models_own_voice() -> None:
    assert voice_named("", [HEART]) == ""


@pytest.mark.parametrize("name", ["nobody", "Alloy", "x" * 10_000])
def test_any_other_name_is_refused_with_those_that_would_do(name: str) -> None:
    with pytest.raises(
        InvalidRequest, match=r"this server's, heart, bf_emma, or .* OpenAI's: alloy, ash"
    ) as caught:
        voice_named(name, [HEART, EMMA])
    assert caught.value.field == "voice"
    assert len(str(caught.value)) < 400
