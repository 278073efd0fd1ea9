"""Faults and bounds."""

from fractions import Fraction

import pytest

from engine.errors import ScoreError
from engine.score.place import GRID, MAX_NUMBER, Place, checked_duration, number


def test_fault_names_line_and_column() -> None:
    fault = Place(3, 7).after(2).fault("Close it.")

    assert (fault.line, fault.column) == (3, 9)
    assert str(fault) == "Close it (line 3, column 9)."


@pytest.mark.parametrize("digits", ["", "0", "-", "65", "9" * 17, "9" * 5000, "²", "1_0"])
def test_number_out_of_bounds_is_a_fault(digits: str) -> None:
    with pytest.raises(ScoreError, match="from 1 to 64"):
        number(digits, Place(1, 1), "it", 64)


def test_number_reads_digits_up_to_its_bound() -> None:
    assert number("064", Place(1, 1), "it", 64) == 64
    assert number("1" + "0" * 15, Place(1, 1), "it") == MAX_NUMBER


@pytest.mark.parametrize(
    "length", [Fraction(65), Fraction(1, 17), Fraction(1, 2**11), Fraction(0), Fraction(-1)]
)
def test_duration_off_the_grid_or_too_long_is_a_fault(length: Fraction) -> None:
    with pytest.raises(ScoreError):
        checked_duration(length, Place(1, 1))


@pytest.mark.parametrize(
    "length", [Fraction(64), Fraction(1, 1024), Fraction(1, 27), Fraction(1, GRID), Fraction(5, 91)]
)
def test_duration_on_the_grid_is_kept(length: Fraction) -> None:
    assert checked_duration(length, Place(1, 1)) == length
