"""How the installed torch was built, and what is said where it does not fit the machine."""

import sys
from importlib.metadata import version

import pytest
import torch

from engine.yue2.machine.builds import TorchBuild, blindness, torch_build

PROCESSORS = TorchBuild("2.13.0+cpu", "", ())
CARDLESS = TorchBuild(
    "2.13.0", "13.0", (), "The NVIDIA driver on your system is too old (found version 11040)."
)


def test_the_installed_torch_is_told() -> None:
    build = torch_build()
    assert isinstance(build, TorchBuild)
    assert build.version == torch.__version__
    assert version("torch").startswith(build.release)


def test_without_torch_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    sentence = torch_build()
    assert isinstance(sentence, str)
    assert "yue2" in sentence


def test_a_build_without_cuda_beside_a_card_names_the_command() -> None:
    sentence = blindness(PROCESSORS, 1, None)
    assert "is built without CUDA" in sentence
    assert sentence.endswith(
        f"{sys.executable} -m pip install --force-reinstall --index-url https://pypi.org/simple torch==2.13.0"
    )


def test_a_build_that_finds_no_card_tells_why() -> None:
    sentence = blindness(CARDLESS, 1, None)
    assert "(for CUDA 13.0) finds no card" in sentence
    assert CARDLESS.warning in sentence


@pytest.mark.parametrize(
    ("build", "cards", "visible"),
    [
        (PROCESSORS, 0, None),  # no card
        (TorchBuild("2.13.0", "13.0", ("a card",)), 1, None),  # it is seen
        (CARDLESS, 1, "-1"),  # hidden on purpose
        (CARDLESS, 1, ""),
    ],
)
def test_nothing_is_said_where_nothing_is_amiss(build: TorchBuild, cards: int, visible: str | None) -> None:
    assert blindness(build, cards, visible) == ""
