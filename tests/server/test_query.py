"""Parameters of a query."""

import pytest
from starlette.requests import Request

from engine.errors import InvalidRequest, UnknownField
from server.query import check_query, options_of


def request(query: str) -> Request:
    return Request(
        {"type": "http", "method": "GET", "path": "/", "query_string": query.encode(), "headers": []}
    )


def test_what_is_known_may_stand_there_once() -> None:
    check_query(request("a=1&b=2"), "a", "b")
    with pytest.raises(InvalidRequest, match="a stands twice in the query") as caught:
        check_query(request("a=1&a=1"), "a")
    assert caught.value.field == "a"


def test_what_is_unknown_is_named_with_what_is_known() -> None:
    with pytest.raises(UnknownField, match="no parameter 'c' here; choose one of: a, b"):
        check_query(request("c=1"), "a", "b")
    with pytest.raises(UnknownField, match="what is asked for stands in the body") as caught:
        check_query(request("n" * 81))
    assert caught.value.field == "n" * 80


@pytest.mark.parametrize(
    ("text", "value"),
    [("0.5", 0.5), ("-1", -1.0), ("1e9", "1e9"), ("nan", "nan"), ("", ""), ("%D9%A3", "٣"), ("0.5.", "0.5.")],
)
def test_numbers_are_read_where_they_are_wanted_and_are_such(text: str, value: object) -> None:
    assert options_of(request(f"n={text}&t=1"), ("n", "t"), ("n",)) == {"n": value, "t": "1"}


def test_options_are_as_strict() -> None:
    with pytest.raises(UnknownField):
        options_of(request("x=1"), ("n",), ("n",))
