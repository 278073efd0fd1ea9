"""Vendors' model names, and what becomes of them."""

from collections.abc import Callable

import pytest

from engine.catalogue import Catalogue
from engine.errors import InvalidRequest, UnknownModel
from server.compatible.names import (
    VENDOR_NAMES,
    Kind,
    music_model,
    names_of,
    speech_model,
    telling,
    transcription_model,
    vendor_kind,
)
from tests.server.sound_doubles import SpeechDouble

CHOOSERS = {
    Kind.SPEECH: speech_model,
    Kind.TRANSCRIPTION: transcription_model,
    Kind.MUSIC: music_model,
}
ALL = [(kind, name) for kind, names in VENDOR_NAMES.items() for name in names]


@pytest.mark.parametrize(("kind", "name"), ALL)
def test_a_vendors_name_stands_for_our_default_of_its_kind(kind: Kind, name: str) -> None:
    assert vendor_kind(name) is kind
    assert CHOOSERS[kind](name) == ""
    assert CHOOSERS[kind](f"{name}-2025-12-15") == ""


@pytest.mark.parametrize(("kind", "name"), ALL)
def test_a_vendors_name_of_another_kind_is_refused_with_names_that_fit(kind: Kind, name: str) -> None:
    for wanted, choose in CHOOSERS.items():
        if wanted is not kind:
            with pytest.raises(InvalidRequest, match=VENDOR_NAMES[wanted][0]) as refused:
                choose(name)
            assert refused.value.field == "model"


@pytest.mark.parametrize("choose", CHOOSERS.values())
@pytest.mark.parametrize(
    "name", ["", "hibari", "gpt-5", "tts-1-2025", "tts-1-hd-2025-1-1", "-2025-12-15", "x" * 9999]
)
def test_any_other_name_is_looked_up_as_it_is(choose: Callable[[str], str], name: str) -> None:
    assert vendor_kind(name) is None
    assert choose(name) == name


def test_an_unknown_name_is_answered_with_what_is_here() -> None:
    with pytest.raises(UnknownModel, match="choose one of: spoken") as refused:
        Catalogue(speech=[SpeechDouble()]).speech(speech_model("gpt-5"))
    assert refused.value.field == "model"


def test_the_names_of_a_kind_are_ours_and_the_vendors_where_it_is_here() -> None:
    models = Catalogue(speech=[SpeechDouble()]).describe()
    assert names_of(models, Kind.SPEECH) == ("spoken", *VENDOR_NAMES[Kind.SPEECH])
    assert names_of(models, Kind.MUSIC) == ("sketch", *VENDOR_NAMES[Kind.MUSIC])
    assert names_of(models, Kind.TRANSCRIPTION) == ()
    assert names_of([{"id": "odd"}], *Kind) == ()


def test_who_names_another_model_is_told_all_names_that_would_do_or_how_to_get_it() -> None:
    with (
        pytest.raises(UnknownModel, match="'gpt-5' here; choose one of: tts-1, spoken; GET /v1/models"),
        telling(["tts-1", "spoken"]),
    ):
        raise UnknownModel("gpt-5", ("spoken",))
    with pytest.raises(UnknownModel, match="'yue2' here; set YUE2_MODEL"), telling(["tts-1"]):
        raise UnknownModel("yue2", (), "set YUE2_MODEL")
