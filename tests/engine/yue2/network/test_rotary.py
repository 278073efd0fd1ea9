import pytest
import torch

from engine.yue2.files.config import ModelConfig
from engine.yue2.network.rotary import Rotary
from tests.engine.yue2.conftest import Golden

CPU = torch.device("cpu")
POSITIONS = torch.tensor([0, 5, 24_575])


@pytest.fixture(scope="module")
def rotary(model_config: ModelConfig) -> Rotary:
    return Rotary(model_config, CPU, torch.float32)


def test_tables_are_the_reference(rotary: Rotary, golden: Golden) -> None:
    arrays, angles = golden.arrays("ar"), rotary.at(POSITIONS)
    cos, sin = angles.cos[:, 0], angles.sin[:, 0]  # (3, head_dim)
    for half in (cos[:, :4], cos[:, 4:]):
        assert torch.allclose(half, torch.from_numpy(arrays["cos_pos0_5_last"]), rtol=0, atol=1e-6)
    for half in (-sin[:, :4], sin[:, 4:]):
        assert torch.allclose(half, torch.from_numpy(arrays["sin_pos0_5_last"]), rtol=0, atol=1e-6)


def test_a_turn_is_a_rotation_of_pairs(rotary: Rotary) -> None:
    heads = torch.randn(3, 2, 8, generator=torch.Generator().manual_seed(1))
    angles = rotary.at(POSITIONS)
    cos, sin = angles.cos[:, :, :4], angles.sin[:, :, 4:]
    first, second = heads[..., :4], heads[..., 4:]
    expected = torch.cat((first * cos - second * sin, second * cos + first * sin), dim=-1)
    assert torch.allclose(angles.turn(heads), expected, rtol=0, atol=1e-6)


def test_positions_may_be_a_run_or_any(rotary: Rotary) -> None:
    run, some = rotary.between(40, 44), rotary.at(torch.arange(40, 44))
    assert torch.equal(run.cos, some.cos)
    assert torch.equal(run.sin, some.sin)
    assert torch.equal(run.rows(slice(1, 3)).cos, rotary.between(41, 43).cos)
    assert torch.equal(run.repeated(2).sin, torch.cat((run.sin, run.sin)))
    assert run.repeated(1) is run


def test_tables_are_rounded_once(rotary: Rotary, model_config: ModelConfig) -> None:
    rounded = Rotary(model_config, CPU, torch.bfloat16)
    assert torch.equal(rounded.sin, rotary.sin.bfloat16())


def test_a_turn_in_half_precision_rounds_each_product(model_config: ModelConfig) -> None:
    angles = Rotary(model_config, CPU, torch.bfloat16).between(7, 107)
    heads = torch.randn(100, 3, 8, generator=torch.Generator().manual_seed(1)).bfloat16()
    first, second = heads[..., :4], heads[..., 4:]
    crossed = torch.cat((-second, first), dim=-1)
    sin = angles.sin[..., 4:].repeat(1, 1, 2)
    assert torch.equal(angles.turn(heads), heads * angles.cos + crossed * sin)
