"""What is noted of the machine."""

from importlib.metadata import version

import pytest

from bench.machine import Load, describe_machine, package_versions


@pytest.mark.parametrize(("average", "cores", "heavy"), [(1.0, 2, False), (1.01, 2, True), (0.6, 1, True)])
def test_more_than_half_a_process_a_core_is_heavy(average: float, cores: int, heavy: bool) -> None:
    assert Load(average, cores).is_heavy is heavy


def test_a_load_says_what_it_is_on() -> None:
    assert [str(Load(0.5, 1)), str(Load(1.234, 8))] == ["load 0.50 on 1 core", "load 1.23 on 8 cores"]


def test_the_load_is_the_machines() -> None:
    now = Load.now()
    assert now.average >= 0
    assert now.cores >= 1
    assert describe_machine()["cores"] == now.cores


def test_installed_packages_have_their_versions() -> None:
    assert package_versions()["numpy"] == version("numpy")
