"""The rows of health: best percentiles, least load."""

import pytest

from bench.health import BUSY, WAITING, answer_rows, check_present, count_rows
from bench.probe import Probed


def probed(*answers: float) -> Probed:
    return Probed(0.0, 1.0, list(answers), [0.5])


def test_the_best_round_of_each_percentile_is_held_against_the_bars() -> None:
    rows = {row.name: row for row in answer_rows(BUSY, [probed(1, 2, 30), probed(2, 3, 9)])}
    assert {name: (row.value, row.missed) for name, row in rows.items()} == {
        f"{BUSY}, p50": (2, False),
        f"{BUSY}, p99": (9, False),
        f"{BUSY}, p99.9": (9, False),
        f"{BUSY}, longest": (9, False),
        f"{BUSY}, probe woke late, p99.9": (0.5, False),
    }
    assert any(row.missed for row in answer_rows(BUSY, [probed(1, 2, 30)]))


def test_other_servers_have_no_bars() -> None:
    assert not any(row.missed for row in answer_rows("bare", [probed(1000)]))


def test_waiting_calls_have_the_same_bars() -> None:
    kept = answer_rows(WAITING, [probed(1, 2, 9)], WAITING)
    assert [str(row.bar) for row in kept if row.bar] == ["≤ 10", "≤ 25"]
    assert any(row.missed for row in answer_rows(WAITING, [probed(1, 2, 30)], WAITING))


def test_the_round_with_the_least_load_counts() -> None:
    rows = count_rows([{"songs ended": 3, "published": 400}, {"songs ended": 2, "published": 600}])
    assert [(row.name, row.value, row.unit) for row in rows] == [
        ("load: songs ended", 2, ""),
        ("load: published", 400, "MB"),
    ]


def test_a_load_that_lacks_something_is_an_error() -> None:
    check_present({"songs ended": 1})
    with pytest.raises(RuntimeError, match="lacked: published"):
        check_present({"songs ended": 1, "published": 0})
