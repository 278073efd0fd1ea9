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
    "on Main St. We left St. Paul": "on Main Street. We left St. Paul",
    "John Smith III spoke": "John Smith the third spoke",
    "World War II, Title IX": "World War 2, Title 9",
    "II. Introduction": "2. Introduction",
    "I am": "I am",
    "IPv4, MP3, CO2": "I.P. v 4, M.P. 3, C.O. 2",
    "24/7": "24 7",
    "rock ’n’ roll": "rock and roll",
    "naïve Zoë": "naive Zoe",
    "i.e. that": "I.E. that",
    "Mon, Tue, Wed and Thurs": "Monday, Tuesday, Wednesday and Thursday",
    "Sat & Sun, Sun 5 May": "Saturday & Sunday, Sunday 5 May",
    "the Sun, no Mon ami, he wed": "the Sun, no Mon ami, he wed",
    "on Wednesday, Fri-day": "on Wednesday, Fri-day",
    "p. 12, p.5, c. 1850, ca. 900": "page 12, page 5, circa 1850, circa 900",
    "p. Smith, vitamin c. 5": "p. Smith, vitamin c. 5",
    "Ext. 45": "Extension 45",
    "Jan 2024, Sept. 2023, Feb-Mar, Jan.–Feb. 5": "January 2024, September 2023, February to March, January to February. 5",
    "Jan van Eyck, Mar 5, 2024": "Jan van Eyck, Mar 5, 2024",
    "n/a, c/o, WWII and JSON": "N.A., care of, World War 2 and jason",
    "in km/h or mph": "in kilometers per hour or miles per hour",
    "rock'n'roll": "rock and roll",
    "cats, etc., and dogs, etc.": "cats, etc, and dogs, etc.",
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
