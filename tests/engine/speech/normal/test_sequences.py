"""Numbers side by side are several, unless their commas are those of one."""

import pytest

from engine.speech.normal.rule import applied
from engine.speech.normal.sequences import SEQUENCES

SAID = {
    "(555) 123-4567": "5 5 5, 1 2 3, 4 5 6 7",
    "+1 555-123-4567": "plus 1, 5 5 5, 1 2 3, 4 5 6 7",
    "020 7946 0958": "0 2 0, 7 9 4 6, 0 9 5 8",
    "555-1234.": "5 5 5, 1 2 3 4.",
    "call 911 for 911 cars": "call 9 1 1 for 911 cars",
    "94103-1234, 123-45-6789": "9 4 1 0 3, 1 2 3 4, 1 2 3, 4 5, 6 7 8 9",
    "1,2,3,4": "1, 2, 3, 4",
    "$1,2,3 or 1,2.3,4": "$1, 2, 3 or 1, 2.3, 4",
    "1,234,567.5 or 12,34,567": "1,234,567.5 or 12,34,567",
    "1,1,1,1,1": "1, 1, 1, 1, 1",
    "1,234,5": "1, 234, 5",
    "05-13-2024": "05/13/2024",
    "2024-3-5 or 2024-03-05": "2024-03-05 or 2024-03-05",
    "2024-13-45": "2024, 13, 45",
    "1-2-3-4": "1, 2, 3, 4",
    "10-20%": "10 to 20%",
    "pp. 1-3,5,7-9.": "pp. 1 to 3, 5, 7 to 9.",
    "1.5-2.5 and 10,000–20,000": "1.5 to 2.5 and 10,000 to 20,000",
    "$5-10, £5–£10.50": "5 to $10, 5 to £10.50",
    "200-1000": "200 to 1000",
    "10 - 2 = 8, 3 - 2.": "10 minus 2 = 8, 3 to 2.",
    "24-7, 50-50, 1-1": "24 7, 50 50, 1 to 1",
    "9:00-17:00, B-52, F-16-4, 4-A, 1/2-3": "9:00-17:00, B-52, F-16-4, 4-A, 1/2-3",
}


@pytest.mark.parametrize(("written", "expected"), SAID.items(), ids=SAID)
def test_what_is_said(written: str, expected: str) -> None:
    line = applied(SEQUENCES, written)
    assert line.count(" ") == written.count(" ")
    assert " ".join(line.split()) == expected
