"""A toy pair of random checkpoints, written once for all tests of this folder."""

from collections.abc import Iterator

import pytest
import torch

from bench.engine.checkpoints import Pair, random_checkpoints
from bench.engine.options import Size

TOY = Size(layers=1, hidden=64, heads=2, kv_heads=1, head_dim=16, ffn=64, vae_channels=1)


@pytest.fixture(scope="session")
def toy() -> Size:
    return TOY


@pytest.fixture(scope="session")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return random_checkpoints(tmp_path_factory.mktemp("toy"), TOY)


@pytest.fixture(scope="session", autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
