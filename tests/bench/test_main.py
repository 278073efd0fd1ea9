"""All benchmarks in turn."""

import pytest

import bench.__main__


@pytest.mark.parametrize(("statuses", "expected"), [((0, 0), 0), ((1, 0), 1)])
def test_all_run_and_a_missed_bar_in_any_counts(
    monkeypatch: pytest.MonkeyPatch, statuses: tuple[int, int], expected: int
) -> None:
    ran: list[str] = []

    def take(name: str, status: int) -> None:
        def main() -> int:
            ran.append(name)
            return status

        monkeypatch.setattr(f"bench.{name}.main", main)

    monkeypatch.setattr(bench.__main__, "BENCHMARKS", ("floors", "sketch"))
    take("floors", statuses[0])
    take("sketch", statuses[1])
    assert bench.__main__.main() == expected
    assert ran == ["floors", "sketch"]
