"""Requests are the same where the same caller sent the same to the same place, and only there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.calls.fingerprints import attempts_before, fingerprint

PIECES = st.lists(st.binary(max_size=6), max_size=4)


@given(PIECES, PIECES)
def test_other_pieces_have_another_fingerprint(one: list[bytes], other: list[bytes]) -> None:
    prints = [fingerprint("a", "POST", "/p?", pieces) for pieces in (one, other)]
    assert (prints[0] == prints[1]) == (one == other)


@given(st.text(), st.text(), st.text())
def test_any_text_can_stand_in_it(owner: str, method: str, path: str) -> None:
    seen = {fingerprint(*names, []) for names in ((owner, method, path), (owner + "x", method, path))}
    assert len(seen) == 2


def test_who_asks_where_and_how_counts() -> None:
    told = [
        ("a", "POST", "/p?", (b"x",)),
        ("b", "POST", "/p?", (b"x",)),
        ("a", "PUT", "/p?", (b"x",)),
        ("a", "POST", "/q?", (b"x",)),
        ("a", "POST", "/p?f=1", (b"x",)),
        ("a", "POST", "/p?", (b"y",)),
        ("aPOST", "", "/p?", (b"x",)),
    ]
    assert len({fingerprint(*each) for each in told}) == len(told)


def test_a_view_counts_by_its_bytes() -> None:
    view = memoryview(bytearray(b"sound"))
    assert fingerprint("", "POST", "/", [view]) == fingerprint("", "POST", "/", [b"sound"])


@pytest.mark.parametrize(
    ("sent", "attempts"),
    [
        ("0", 0),
        ("1", 1),
        ("2", 2),
        (" 3 ", 3),
        ("", 0),
        ("-1", 0),
        ("1.5", 0),
        ("many", 0),
        ("٣", 0),
        ("9" * 99, 0),
    ],
)
def test_how_often_was_tried_is_what_the_client_says(sent: str, attempts: int) -> None:
    assert attempts_before({"x-stainless-retry-count": sent}) == attempts


def test_a_client_that_does_not_say_tries_for_the_first_time() -> None:
    assert attempts_before({}) == 0
