from dataclasses import replace

import pytest

from engine.yue2.fingerprint import Fingerprint, Remaining, difference

HERE = Fingerprint("A card", "2.13.0", 0, "bf16", "bfloat16", "aa11", "bb22", 1, 1, 1024)


@pytest.mark.parametrize("remaining", ["codes", "latents", "sound"])
def test_the_same_fingerprint_and_none_at_all_need_no_words(remaining: Remaining) -> None:
    assert difference(None, HERE, remaining) == ()
    assert difference(HERE.to_json(), HERE, remaining) == ()


def test_a_difference_is_told_with_both_sides() -> None:
    told = replace(HERE, device="Another card", tile_frames=128).to_json()
    assert difference(told, HERE, "latents") == (
        "The replay was made otherwise (device Another card there, A card here; frames decoded together 128 there, "
        "1024 here), so the sound may differ from the first in its last bits.",
    )


@pytest.mark.parametrize("name", ["precision", "state"])
def test_another_number_format_is_more_than_last_bits(name: str) -> None:
    (note,) = difference({**HERE.to_json(), name: "fp32"}, HERE, "latents")
    assert note.endswith(
        "fp32 there, "
        + str(HERE.to_json()[name])
        + " here), so the sound may differ a little from the first."
    )


def test_songs_drawn_together_matter_only_where_codes_are_drawn() -> None:
    told = replace(HERE, lm_batch=4).to_json()
    assert difference(told, HERE, "latents") == ()
    assert "songs drawn together 4 there, 1 here), so other codes" in difference(told, HERE, "codes")[0]


def test_other_weights_are_another_sound_and_nothing_else_matters() -> None:
    told = replace(HERE, weights="cc33", vae="dd44", threads=2).to_json()
    sentence = "The replay was made with other weights ({}); it will sound different."
    both = "of the model cc33 there, aa11 here; of the audio codec dd44 there, bb22 here"
    assert difference(told, HERE, "codes") == (sentence.format(both),)
    assert difference(told, HERE, "sound") == (sentence.format("of the audio codec dd44 there, bb22 here"),)


@pytest.mark.parametrize("name", ["precision", "state", "weights", "lm_batch", "synth_batch"])
def test_what_latents_were_made_with_does_not_matter_to_their_sound(name: str) -> None:
    told = {**HERE.to_json(), name: "other"}
    assert difference(told, HERE, "sound") == ()
    assert difference(told, HERE, "codes") != ()


def test_entries_that_are_missing_or_unknown_are_passed_over() -> None:
    assert difference({"device": "A card", "colour": "red"}, HERE, "codes") == ()
