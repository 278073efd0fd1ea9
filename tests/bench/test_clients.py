"""The rows of first sound through the official client, and what is read of an answer."""

import pytest

from bench.clients import _read_head, in_turns, rows


def test_the_product_is_held_against_the_bar_and_the_rival_is_not() -> None:
    told = {row.name: row for row in rows({"first sound, mp3": [90.0, 150.0, 400.0], "bare": [300.0]})}
    assert (told["first sound, mp3, p50"].value, told["first sound, mp3, p50"].missed) == (150.0, False)
    assert (told["first sound, mp3, p95"].value, told["first sound, mp3, p95"].missed) == (400.0, True)
    assert {told["bare, p50"].bar, told["bare, p95"].bar} == {None}
    assert not any(row.missed for row in rows({"first sound, mp3": [200.0], "bare": [300.0]}))


def test_ways_take_turns_after_a_call_that_does_not_count() -> None:
    called: list[str] = []

    def way(name: str) -> float:
        called.append(name)
        return float(len(called))

    found = in_turns({"a": lambda: way("a"), "b": lambda: way("b")}, 2)
    assert "".join(called) == "ababab"
    assert found == {"a": [3.0, 5.0], "b": [4.0, 6.0]}


def test_sound_begins_behind_the_head_and_an_empty_answer_is_an_error() -> None:
    chunks = iter([b"h" * 44, b"", b"s" * 40, b"left"])
    _read_head(chunks)
    assert list(chunks) == [b"left"]
    with pytest.raises(RuntimeError, match="ended after 44 bytes"):
        _read_head([b"h" * 44])
