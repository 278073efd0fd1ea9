"""The least that must be computed has the product's shapes."""

import pytest
import torch

from bench.engine.checkpoints import Pair
from bench.engine.least import Formats, folded, grouped, least_decoding, least_pass, repeated
from engine.yue2.files.config import read_model_config, read_vae_config

CPU = torch.device("cpu")


def test_all_ways_to_attend_give_the_same() -> None:
    generator = torch.Generator().manual_seed(5)
    q, k, v = (torch.randn(1, heads, 6, 8, generator=generator) for heads in (4, 2, 2))
    expected = repeated(q, k, v, False)
    for way in (grouped, folded):
        assert torch.allclose(way(q, k, v, False), expected, atol=1e-6)
    assert torch.allclose(grouped(q, k, v, True), repeated(q, k, v, True), atol=1e-6)


def test_a_pass_has_the_weights_of_all_layers(pair: Pair) -> None:
    config = read_model_config(pair.model)
    least = least_pass(config, 5, 11, Formats(torch.float32, torch.float32), CPU)
    values = sum(weight.numel() for layer in least.layers for weight in layer)
    assert values == config.layers * 64 * (2 * (32 + 16) + 3 * 64)
    assert least.q.shape == (1, 2, 5, 16)
    assert [(k.shape, v.shape) for k, v in least.cached] == [((1, 1, 16, 16), (1, 1, 16, 16))]
    least.run()


@pytest.mark.parametrize(("frames", "tiles"), [(3, 1), (1025, 2)])
def test_a_decoding_has_all_convolutions_of_each_tile(pair: Pair, frames: int, tiles: int) -> None:
    config = read_vae_config(pair.vae)
    convolutions = least_decoding(config, frames, CPU).convolutions
    assert len(convolutions) == tiles * (1 + 6 * 7 + 1)


def test_a_decodings_lengths_are_those_of_the_sound(pair: Pair) -> None:
    convolutions = least_decoding(read_vae_config(pair.vae), 3, CPU).convolutions
    assert convolutions[-1][1].shape[-1] == 3 * 1920 - 64
    assert sum(transposed for transposed, *_ in convolutions) == 6
