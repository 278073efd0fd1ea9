"""The models present."""

import subprocess
import sys

import pytest

from engine.catalogue import Catalogue
from engine.errors import UnknownModel


def test_the_sketch_is_always_present_and_the_default() -> None:
    catalogue = Catalogue()
    assert catalogue.default_id == "sketch"
    assert catalogue.model("") is catalogue.model("sketch") is catalogue.sketch


def test_an_unknown_model_is_named_with_those_present() -> None:
    with pytest.raises(UnknownModel, match="'yue3' here; choose one of: sketch"):
        Catalogue().model("yue3")


def test_models_are_described_for_clients() -> None:
    (sketch,) = Catalogue().describe()
    assert sketch["id"] == "sketch"
    assert {"kind", "description", "languages", "operations", "defaults"} <= set(sketch)


def test_neither_torch_nor_scipy_is_imported() -> None:
    script = (
        "import sys, engine.catalogue; print(sorted({'torch', 'scipy', 'pyloudnorm'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
