"""Abbreviations, capitals and Roman numerals."""

import pytest

from engine.speech.normal.abbreviations import ABBREVIATIONS, SHOUTED, shouted
from engine.speech.normal.rule import applied

SAID = {
    "He said no.": "He said no .",
    "No. 5 and no. 6": "No. 5 and no. 6",
    "round the Sun.": "round the Sun .",
    "on Oak Dr., then": "on Oak Drive, then",
    "Dr. Smith": "Dr. Smith",
    "John Smith III spoke": "John Smith the third spoke",
    "World War II, Title IX": "World War 2, Title 9",
    "II. Introduction": "2. Introduction",
    "I am": "I am",
    "IPv4, MP3, CO2": "I.P. v 4, M.P. 3, C.O. 2",
    "24/7": "24 7",
    "rock ’n’ roll": "rock and roll",
    "naïve Zoë": "naive Zoe",
    "i.e. that": "I.E. that",
    "x" * 30: f"{'x' * 20} {'x' * 10}",
}


@pytest.mark.parametrize(("written", "expected"), SAID.items(), ids=SAID)
def test_what_is_said(written: str, expected: str) -> None:
    line = applied(ABBREVIATIONS, written)
    assert line.count(" ") == written.count(" ")
    assert " ".join(line.split()) == expected


def test_small_words_are_small_where_all_is_in_capitals() -> None:
    assert shouted("IT IS THE FBI")
    assert applied(SHOUTED, "IT IS THE FBI") == "it is the FBI"


@pytest.mark.parametrize("line", ["IT IS", "It Is The", "THE NASA man", "1 2 3"])
def test_a_few_capitals_are_no_shout(line: str) -> None:
    assert not shouted(line)
