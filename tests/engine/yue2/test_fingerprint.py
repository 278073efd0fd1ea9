from dataclasses import replace

from engine.yue2.fingerprint import Fingerprint, difference

HERE = Fingerprint("A card", "2.13.0", 0, "bf16", 1, 1)


def test_the_same_fingerprint_and_none_at_all_need_no_words() -> None:
    assert difference(None, HERE, draws=True) == ()
    assert difference(HERE.to_json(), HERE, draws=True) == ()


def test_a_difference_is_told_with_both_sides() -> None:
    told = replace(HERE, device="Another card", precision="fp16").to_json()
    assert difference(told, HERE, draws=False) == (
        "The replay was made otherwise (device Another card there, A card here; precision fp16 there, bf16 here), "
        "so the sound may differ from the first in its last bits.",
    )


def test_songs_drawn_together_matter_only_where_codes_are_drawn() -> None:
    told = replace(HERE, lm_batch=4).to_json()
    assert difference(told, HERE, draws=False) == ()
    assert "songs drawn together 4 there, 1 here), so other codes" in difference(told, HERE, draws=True)[0]


def test_entries_that_are_missing_or_unknown_are_passed_over() -> None:
    assert difference({"device": "A card", "colour": "red"}, HERE, draws=True) == ()
