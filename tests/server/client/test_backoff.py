"""The waiting policy."""

from hypothesis import given
from hypothesis import strategies as st

from server.client.backoff import JITTER, reconnect_delay, refusal_delay


def test_refusals_wait_five_ten_twenty_and_then_thirty_seconds() -> None:
    assert [refusal_delay(count, 0.0, 0.0) for count in range(1, 7)] == [5, 10, 20, 30, 30, 30]


def test_broken_connections_are_retried_sooner_and_capped() -> None:
    assert [reconnect_delay(count, 0.0) for count in range(1, 9)] == [0.5, 1, 2, 4, 8, 15, 15, 15]


@given(st.integers(1, 50), st.floats(0, 3600), st.floats(0, 1, exclude_max=True))
def test_a_wait_is_never_shorter_than_asked_for_nor_much_longer(
    count: int, asked: float, draw: float
) -> None:
    seconds = refusal_delay(count, asked, draw)
    assert seconds >= asked
    assert seconds >= 5
    assert seconds <= max(30.0, asked) * (1 + JITTER)


@given(st.integers(1, 50), st.floats(0, 1, exclude_max=True))
def test_waits_grow_with_the_number_of_refusals(count: int, draw: float) -> None:
    assert refusal_delay(count + 1, 0.0, draw) >= refusal_delay(count, 0.0, draw)
