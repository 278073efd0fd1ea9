from collections.abc import Sequence
from typing import cast

import pytest

from engine.yue2.parts import Parts
from engine.yue2.text.prompt import score_text
from engine.yue2.text.tokenizer import Tokenizer
from engine.yue2.writing import Draft, Writer
from tests.engine.yue2.songs import song

NO_PARTS = cast(Parts, None)  # nothing below asks for one


class Letters:
    """A tokenizer whose ids are the characters."""

    def encode(self, text: str) -> tuple[int, ...]:
        return tuple(map(ord, text))

    def decode(self, ids: Sequence[int]) -> str:
        return "".join(map(chr, ids))


@pytest.mark.parametrize(
    ("fields", "draft"),
    [
        ({"abc": "AB"}, Draft((65, 66), "AB")),
        ({"abc": "AB", "abc_tokens": "65,67"}, Draft((65, 66), "AB")),
        ({"abc": " \n", "semantic_tokens": "1"}, Draft()),
        ({"abc": " \n", "abc_tokens": "32,10", "semantic_tokens": "1"}, Draft((32, 10), " \n")),
        ({"abc": "", "abc_tokens": "65", "semantic_tokens": "1"}, Draft()),
        ({"abc": "A\ufffd", "abc_tokens": "65,0"}, Draft((65, 0), "A\ufffd")),
        ({"cot": "off", "abc_tokens": "65"}, Draft()),
    ],
)
def test_the_score_a_request_brings(fields: dict[str, object], draft: Draft) -> None:
    assert Writer(NO_PARTS, Letters()).given(song(**fields)) == draft


def test_ids_that_are_not_what_encoding_gives_are_kept(tokenizer: Tokenizer) -> None:
    single = tuple(token for letter in "CDEF" for token in tokenizer.encode(letter))
    assert tokenizer.encode("CDEF") != single
    request = song(abc="CDEF", abc_tokens=",".join(map(str, single)))
    assert Writer(NO_PARTS, tokenizer).given(request) == Draft(single, "CDEF")


def test_a_score_s_text_is_fit_for_a_request() -> None:
    assert score_text(Letters(), [65, 0, 66]) == "A\ufffdB"
    assert song(abc=score_text(Letters(), [65, 0, 66])).abc == "A\ufffdB"
