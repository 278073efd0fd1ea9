"""JSON that is read in slices is what it is when read at once."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.json_slices import SLICE, loads

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text('ab"\\,:{}[] \n\u0259\U0001d11e'),
    lambda inner: (
        st.lists(inner, max_size=5) | st.dictionaries(st.text('a",:{}[]\\', max_size=3), inner, max_size=5)
    ),
    max_leaves=30,
)


@given(VALUES, st.sampled_from([None, 1, "\t"]), st.booleans())
def test_any_value(value: object, indent: int | str | None, plain: bool) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=plain)
    assert json.dumps(loads(text.encode())) == json.dumps(json.loads(text))


@given(st.text('{}[]",:1 \\nul', max_size=30))
def test_what_is_refused_is_refused_alike(text: str) -> None:
    try:
        expected = json.loads(text)
    except json.JSONDecodeError:
        with pytest.raises(json.JSONDecodeError):
            loads(text.encode())
    else:
        assert loads(text.encode()) == expected


@pytest.mark.parametrize("indent", [None, 0, 1, 2, 3, 4, 5, 7])
def test_slices_end_wherever_they_like(indent: int | None) -> None:
    value = {
        "words": {f"word {number}": ["a", {"b": '",}'}][number % 2] for number in range(4_000)},
        "list": [{"id": number, "of": [number]} for number in range(3_000)],
        "long": ["x" * 2 * SLICE, {"y": "z" * SLICE}],
        "empty": [{}, [], ""],
        "wide": [letter * 3_000 for letter in "\u00e9\u0259\u6f22\U0001d11e"],
    }
    text = json.dumps(value, indent=indent, ensure_ascii=False)
    assert len(text) > 4 * SLICE
    assert json.dumps(loads(text.encode())) == json.dumps(value)


def test_a_name_that_comes_twice_has_the_last_value_in_the_first_place() -> None:
    text = '{"a": 1, "b": [[2]], "a": [[3]], "b": 4, "a": 5}'
    assert json.dumps(loads(text.encode())) == json.dumps(json.loads(text)) == '{"a": 5, "b": 4}'


@pytest.mark.parametrize(
    "text", ["", "[1,]", '{"a":1,}', '{"a" 1}', "{1:2}", '{"a":[[1] 2]}', "[1] 2", "[[1]", "{"]
)
def test_what_is_no_json(text: str) -> None:
    with pytest.raises(json.JSONDecodeError):
        loads(text.encode())


@pytest.mark.parametrize("octets", [b'"\xff"', b'"\xe6\xbc'])
def test_what_is_no_text(octets: bytes) -> None:
    with pytest.raises(UnicodeDecodeError):
        loads(octets)
