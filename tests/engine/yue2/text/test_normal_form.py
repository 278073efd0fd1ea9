from time import process_time
from unicodedata import normalize

from hypothesis import example, given, settings
from hypothesis import strategies as st

from engine.yue2.text.normal_form import nfc

# Marks of several classes, marks that decompose, a letter, a jamo of each place, an emoji and a space.
PIECES = "\u0301\u0323\u0344\u0f73\u0f71\u0f72\u3099\u05b4\u0327\ua8e0ae\u00e9\u1100\u1161\u11a8\U0001f3b5 "


@settings(max_examples=60)
@given(st.text(alphabet=PIECES, min_size=16, max_size=80))
@example("a" + "\u0301\u0323" * 40)
@example("\u0f73\u0301" * 20 + "e\u0301")
@example("\ud800" * 20)
def test_the_form_is_that_of_the_standard_library(text: str) -> None:
    assert nfc(text) == normalize("NFC", text)


@settings(max_examples=40)
@given(st.text(max_size=40))
def test_any_text_has_the_form_of_the_standard_library(text: str) -> None:
    assert nfc(text) == normalize("NFC", text)


def test_marks_that_alternate_take_time_in_proportion() -> None:
    def seconds(pairs: int) -> float:
        text = "a" + "\u0301\u0323" * pairs
        start = process_time()
        nfc(text)
        return process_time() - start

    short = min(seconds(2_000) for _ in range(3))
    assert min(seconds(16_000) for _ in range(2)) < 24 * short  # 64 times as long where it is quadratic
