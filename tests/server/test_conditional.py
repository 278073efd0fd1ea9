import pytest
from hypothesis import given
from hypothesis import strategies as st

from server.conditional import Selection, select
from server.errors import PreconditionFailed, RangeNotSatisfiable

TAG = '"abc-0-10"'
WHOLE = Selection(200, 0, 10)


@pytest.mark.parametrize(
    ("asked", "start", "stop"),
    [
        ("bytes=0-1", 0, 2),
        ("bytes=0-", 0, 10),
        ("bytes=9-", 9, 10),
        ("bytes=3-3", 3, 4),
        ("bytes=3-99999999999999999999", 3, 10),
        ("bytes=-1", 9, 10),
        ("bytes=-99", 0, 10),
        ("BYTES= 2 - 4 ", 2, 5),
    ],
)
def test_one_range_is_served(asked: str, start: int, stop: int) -> None:
    assert select("GET", {"range": asked}, TAG, 10) == Selection(206, start, stop)


@pytest.mark.parametrize(
    "asked",
    [
        "bytes=0-1,3-4",
        "bytes=5-2",
        "bytes=-",
        "bytes=",
        "bytes",
        "",
        "items=0-1",
        "bytes=a-b",
        "bytes=0-1;",
        "bytes=--1",
        "bytes=+1-2",
        "bytes=\u0661-",
        "bytes=" + "9" * 5000 + "-",
    ],
)
def test_what_makes_no_single_range_gets_the_whole(asked: str) -> None:
    assert select("GET", {"range": asked}, TAG, 10) == WHOLE


@pytest.mark.parametrize("asked", ["bytes=10-", "bytes=10-20", "bytes=-0", "bytes=99999999999999999999-"])
def test_a_range_outside_is_refused_with_the_length(asked: str) -> None:
    with pytest.raises(RangeNotSatisfiable) as caught:
        select("GET", {"range": asked}, TAG, 10)
    assert caught.value.length == 10


def test_nothing_of_an_empty_result_can_be_asked_for() -> None:
    with pytest.raises(RangeNotSatisfiable):
        select("GET", {"range": "bytes=0-"}, TAG, 0)
    assert select("GET", {}, TAG, 0) == Selection(200, 0, 0)


@pytest.mark.parametrize("condition", [TAG, f" {TAG} "])
def test_a_range_of_this_version_is_served(condition: str) -> None:
    headers = {"range": "bytes=0-1", "if-range": condition}
    assert select("GET", headers, TAG, 10).status == 206


@pytest.mark.parametrize("condition", ['"other"', f"W/{TAG}", "Tue, 01 Dec 2026 10:00:00 GMT", ""])
def test_a_range_of_another_version_gets_the_whole(condition: str) -> None:
    headers = {"range": "bytes=99-", "if-range": condition}
    assert select("GET", headers, TAG, 10) == WHOLE


def test_head_knows_no_ranges() -> None:
    assert select("HEAD", {"range": "bytes=0-1"}, TAG, 10) == WHOLE


@pytest.mark.parametrize("known", [TAG, f"W/{TAG}", f'"x", {TAG}', f'"a,b",W/{TAG}', "*"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
def test_what_the_client_has_is_not_sent_again(method: str, known: str) -> None:
    assert select(method, {"if-none-match": known, "range": "bytes=0-1"}, TAG, 10).status == 304


@pytest.mark.parametrize("known", ['"other"', "abc-0-10", ""])
def test_what_the_client_has_not_is_sent(known: str) -> None:
    assert select("GET", {"if-none-match": known}, TAG, 10) == WHOLE


@pytest.mark.parametrize("wanted", [TAG, f'"x", {TAG}', "*"])
def test_the_version_wanted_is_sent(wanted: str) -> None:
    assert select("GET", {"if-match": wanted}, TAG, 10) == WHOLE


@pytest.mark.parametrize("wanted", ['"other"', f"W/{TAG}", ""])
def test_another_version_than_wanted_is_refused_before_all_else(wanted: str) -> None:
    with pytest.raises(PreconditionFailed):
        select("GET", {"if-match": wanted, "if-none-match": TAG, "range": "bytes=99-"}, TAG, 10)


@given(st.text(alphabet="bytes=0123456789-, ", max_size=30), st.integers(0, 50))
def test_no_header_selects_bytes_that_are_not_there(asked: str, length: int) -> None:
    try:
        chosen = select("GET", {"range": asked}, TAG, length)
    except RangeNotSatisfiable:
        return
    assert 0 <= chosen.start <= chosen.stop <= length
    assert chosen.status == 206 or chosen == Selection(200, 0, length)


@pytest.mark.parametrize("method", ["POST", "DELETE"])
@pytest.mark.parametrize(
    "asked",
    [
        {"if-none-match": "*"},
        {"if-none-match": TAG},
        {"if-match": '"other"'},
        {"range": "bytes=0-1"},
        {"range": "bytes=99-"},
    ],
)
def test_only_what_is_read_is_read_under_conditions(method: str, asked: dict[str, str]) -> None:
    assert select(method, asked, TAG, 10) == WHOLE
