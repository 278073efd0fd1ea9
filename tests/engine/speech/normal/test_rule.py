"""Rules keep the places of written words."""

from engine.speech.normal.rule import GLUE, alternatives, applied, glued, rule


def test_a_text_replacement_glues_its_words() -> None:
    assert applied([rule(r"(?P<n>\d)km", r"\g<n>_kilometers")], "run 5km now") == f"run 5{GLUE}kilometers now"


def test_rules_follow_one_another() -> None:
    assert applied([rule("a", "b"), rule("b", lambda match: match[0] + "c")], "a b") == "bc bc"


def test_glued_words_are_white_space_to_patterns_and_one_word_to_places() -> None:
    words = glued("one half")
    assert words.split() == ["one", "half"]
    assert words.split(" ") == [words]


def test_longer_alternatives_are_tried_first() -> None:
    assert alternatives(["m", "m/s", "$"]).split("|")[0] == "m/s"
    assert r"\$" in alternatives(["m", "$"])
