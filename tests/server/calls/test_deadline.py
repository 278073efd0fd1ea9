"""A call waits as long as the server and its client allow."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.calls.deadline import MARGIN_SECONDS, patience


@pytest.mark.parametrize(
    ("announced", "seconds"),
    [
        ("600", 585.0),
        ("600.0", 585.0),
        ("1200", 600.0),
        ("30", 15.0),
        ("20", 10.0),
        ("1", 0.5),
        (" 40 ", 25.0),
        (None, 600.0),
        ("", 600.0),
        ("0", 600.0),
        ("-5", 600.0),
        ("nan", 600.0),
        ("inf", 600.0),
        ("1e999", 600.0),
        ("soon", 600.0),
    ],
)
def test_a_client_is_answered_before_it_gives_up(announced: str | None, seconds: float) -> None:
    assert patience(600.0, announced) == seconds


def test_of_several_announcements_the_least_counts() -> None:
    assert patience(600.0, "90", "60") == patience(600.0, "60", "90") == 45.0
    assert patience(600.0, None, "60") == patience(600.0, "nonsense", "60") == 45.0
    assert patience(600.0, None, "0") == 600.0
    assert patience(600.0) == 600.0


@given(st.floats(min_value=1, max_value=86400), st.floats(min_value=1e-6, max_value=1e6))
def test_there_is_always_some_time_and_never_as_much_as_the_client_has(
    configured: float, announced: float
) -> None:
    seconds = patience(configured, repr(announced))
    assert 0 < seconds <= configured
    assert seconds < announced
    assert math.isclose(seconds, min(configured, max(announced - MARGIN_SECONDS, announced / 2)))


@given(st.text(max_size=20))
def test_whatever_a_client_announces_can_be_read(announced: str) -> None:
    assert 0 < patience(600.0, announced) <= 600.0
