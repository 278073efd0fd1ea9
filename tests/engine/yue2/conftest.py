"""The tiny checkpoints and their reference outputs, opened once for all tests of this folder."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from engine.yue2.files.checkpoint import Checkpoint
from engine.yue2.files.config import ModelConfig, VaeConfig, read_model_config, read_vae_config
from engine.yue2.files.tensors import model_tensors, vae_tensors
from engine.yue2.text.tokenizer import Tokenizer

DATA = Path(__file__).parents[2] / "data" / "yue2"


class Golden:
    """Owner of the reference outputs that were read so far."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._arrays: dict[str, dict[str, NDArray[Any]]] = {}
        self._cases: dict[str, dict[str, Any]] = {}

    def arrays(self, name: str) -> Mapping[str, NDArray[Any]]:
        """The arrays of `name`.npz; do not write to them."""
        if name not in self._arrays:
            with np.load(self._folder / f"{name}.npz") as archive:
                self._arrays[name] = dict(archive)
        return self._arrays[name]

    def cases(self, name: str) -> dict[str, Any]:
        """The object in `name`.json, such as `prompt_cases`; do not change it."""
        if name not in self._cases:
            self._cases[name] = json.loads((self._folder / f"{name}.json").read_bytes())
        return self._cases[name]


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    """The reference outputs were made on one thread."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def golden() -> Golden:
    return Golden(DATA)


@pytest.fixture(scope="session")
def model_folder() -> Path:
    return DATA / "YuE2-3B-tiny"


@pytest.fixture(scope="session")
def vae_folder() -> Path:
    return DATA / "YuE2-Vae-tiny"


@pytest.fixture(scope="session")
def model_config(model_folder: Path) -> ModelConfig:
    return read_model_config(model_folder)


@pytest.fixture(scope="session")
def vae_config(vae_folder: Path) -> VaeConfig:
    return read_vae_config(vae_folder)


@pytest.fixture(scope="session")
def checkpoint(model_folder: Path, model_config: ModelConfig) -> Iterator[Checkpoint]:
    with Checkpoint(model_folder, model_tensors(model_config)) as opened:
        yield opened


@pytest.fixture(scope="session")
def vae_checkpoint(vae_folder: Path, vae_config: VaeConfig) -> Iterator[Checkpoint]:
    with Checkpoint(vae_folder, vae_tensors(vae_config)) as opened:
        yield opened


@pytest.fixture(scope="session")
def tokenizer(model_folder: Path) -> Tokenizer:
    return Tokenizer(model_folder)
