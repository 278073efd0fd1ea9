"""The limits, at and around each of them."""

from dataclasses import FrozenInstanceError

import pytest

from storage.budget import Budget, Usage
from storage.errors import ResultTooLarge, StoreFull

BUDGET = Budget(max_bytes=100, max_files=3, max_file_bytes=40)


@pytest.mark.parametrize("limits", [(0, 1, 1), (1, 0, 1), (1, 1, 0)])
def test_a_limit_below_one_is_refused(limits: tuple[int, int, int]) -> None:
    with pytest.raises(ValueError, match="at least 1"):
        Budget(*limits)


def test_limits_of_one_are_allowed() -> None:
    assert Budget(1, 1, 1).is_full(0, 0) is False


@pytest.mark.parametrize(
    ("files", "used_bytes", "full"),
    [(0, 0, False), (2, 99, False), (3, 0, True), (0, 100, True), (4, 0, True), (0, 101, True)],
)
def test_full_at_either_limit(files: int, used_bytes: int, full: bool) -> None:
    assert BUDGET.is_full(files, used_bytes) is full


def test_one_more_file_needs_room() -> None:
    BUDGET.check_file(2, 99)
    with pytest.raises(StoreFull, match="3 of 3 files and 50 of 100 bytes"):
        BUDGET.check_file(3, 50)


def test_a_file_grows_to_its_limit_and_no_further() -> None:
    BUDGET.check_growth(30, 10, 1, 30)
    with pytest.raises(ResultTooLarge, match="40 bytes"):
        BUDGET.check_growth(30, 11, 1, 30)


def test_a_file_grows_to_the_limit_of_the_store_and_no_further() -> None:
    BUDGET.check_growth(0, 10, 3, 90)
    with pytest.raises(StoreFull, match="3 of 3 files and 90 of 100 bytes"):
        BUDGET.check_growth(0, 11, 3, 90)


def test_shrinking_is_allowed_beyond_every_limit() -> None:
    BUDGET.check_growth(50, 0, 9, 200)
    BUDGET.check_growth(50, -1, 9, 200)
    with pytest.raises(ResultTooLarge):
        BUDGET.check_growth(50, 1, 9, 200)


def test_limits_and_counts_once_given_out_do_not_change() -> None:
    usage = Usage(1, 2, 100, 3, 40, 10.0, False)
    with pytest.raises(FrozenInstanceError):
        BUDGET.__setattr__("max_files", 4)
    with pytest.raises(FrozenInstanceError):
        usage.__setattr__("files", 4)
    assert (BUDGET.max_files, usage.files) == (3, 1)
