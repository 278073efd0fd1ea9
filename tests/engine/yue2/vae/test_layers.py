"""The VAE's layers in slices, against torch's own layers on whole inputs."""

import pytest
import torch

from engine.control import unchecked
from engine.yue2.files.checkpoint import Checkpoint
from engine.yue2.files.config import VaeConfig
from engine.yue2.vae.layers import Layer, Slices, Weights, window
from tests.engine.yue2.conftest import Golden
from tests.engine.yue2.plain_vae import PlainVae

CPU = torch.device("cpu")
WHOLE = Slices(2**30, unchecked)
LEAST = Slices(1, unchecked)  # 128 columns at once
LENGTHS = (1, 2, 9, 127, 128, 129, 300)


@pytest.fixture(scope="module")
def weights(vae_checkpoint: Checkpoint) -> Weights:
    return Weights(vae_checkpoint, CPU, unchecked)


@pytest.fixture(scope="module")
def plain(vae_checkpoint: Checkpoint, vae_config: VaeConfig) -> PlainVae:
    return PlainVae(vae_checkpoint, vae_config)


def columns(channels: int, length: int) -> torch.Tensor:
    return torch.randn((channels, length), generator=torch.Generator().manual_seed(length))


def assert_alike(layer: Layer, x: torch.Tensor, expected: torch.Tensor) -> None:
    for slices in (WHOLE, LEAST):
        found = layer(x.clone(), slices)
        assert found.shape == expected.shape
        assert torch.allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("decoder.layers.0", "conv"),
        ("decoder.layers.1.layers.1", "convT"),
        ("encoder.layers.6.layers.4", "conv"),
    ],
)
def test_folded_kernels_are_as_near_to_torchs_weight_norm_as_the_reference_s(
    weights: Weights, vae_checkpoint: Checkpoint, golden: Golden, name: str, kind: str
) -> None:
    direction = vae_checkpoint.tensor(f"{name}.weight_v")
    length = vae_checkpoint.tensor(f"{name}.weight_g")
    expected: torch.Tensor = torch.ops.aten._weight_norm(direction, length, 0)
    assert (
        float((weights.folded(name) - expected).abs().max())
        <= 2 * golden.arrays("vae")[f"fold_{kind}_maxabs_diff"]
    )


def test_folding_leaves_the_checkpoint_as_it_is(weights: Weights, vae_checkpoint: Checkpoint) -> None:
    before = vae_checkpoint.tensor("decoder.layers.0.weight_v").clone()
    weights.folded("decoder.layers.0")
    assert torch.equal(vae_checkpoint.tensor("decoder.layers.0.weight_v"), before)


def test_a_snake_changes_its_input_in_place_and_keeps_zero(weights: Weights, plain: PlainVae) -> None:
    name = "decoder.layers.1.layers.0"
    x = columns(64, 30)
    x[:, 7] = 0
    expected = plain.snake(x[None], name)[0]
    found = weights.snake(name).apply(x)
    assert found is x
    assert torch.allclose(found, expected, rtol=1e-6, atol=1e-6)
    assert not found[:, 7].any()


@pytest.mark.parametrize("length", LENGTHS)
def test_a_convolution_in_slices_is_the_whole_one(weights: Weights, plain: PlainVae, length: int) -> None:
    x = columns(64, length)
    expected = plain.convolution(x[None], "decoder.layers.0", padding=3)[0]
    assert_alike(weights.convolution("decoder.layers.0", padding=3), x, expected)


@pytest.mark.parametrize("length", [10, 11, 639, 640, 644, 1333])
def test_a_strided_convolution_in_slices_is_the_whole_one(
    weights: Weights, plain: PlainVae, length: int
) -> None:
    name = "encoder.layers.5.layers"
    x = columns(16, length)
    expected = plain.convolution(plain.snake(x[None], f"{name}.3"), f"{name}.4", stride=5, padding=3)[0]
    assert_alike(weights.convolution(f"{name}.4", f"{name}.3", stride=5, padding=3), x, expected)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize(("block", "stride", "channels"), [(1, 6, 64), (2, 5, 32), (3, 4, 16), (5, 2, 4)])
def test_an_upsampling_in_slices_is_the_transposed_convolution(
    weights: Weights, plain: PlainVae, length: int, block: int, stride: int, channels: int
) -> None:
    name = f"decoder.layers.{block}.layers"
    x = columns(channels, length)
    expected = plain.upsampling(plain.snake(x[None], f"{name}.0"), f"{name}.1", stride)[0]
    assert_alike(weights.upsampling(f"{name}.1", f"{name}.0", stride), x, expected)


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize(("unit", "dilation"), [(2, 1), (3, 3), (4, 9)])
def test_a_residual_unit_in_slices_is_the_whole_one(
    weights: Weights, plain: PlainVae, length: int, unit: int, dilation: int
) -> None:
    name = f"decoder.layers.3.layers.{unit}"
    x = columns(8, length)
    expected = plain.residual_unit(x[None], name, dilation)[0]
    assert_alike(weights.residual_unit(name, dilation), x, expected)


def test_a_window_has_zeros_beyond_the_ends() -> None:
    x = torch.arange(1.0, 7.0).view(2, 3)
    assert window(x, -2, 5).tolist() == [[0, 0, 1, 2, 3, 0, 0], [0, 0, 4, 5, 6, 0, 0]]
    assert window(x, 1, 2).tolist() == [[2], [5]]


def test_ranges_make_up_the_length_and_ask_before_each() -> None:
    asked: list[None] = []
    slices = Slices(64 * 300, lambda: asked.append(None))
    assert list(slices.ranges(700, 64)) == [(0, 300), (300, 600), (600, 700)]
    assert len(asked) == 3
    assert list(slices.ranges(300, 10**6)) == [(0, 128), (128, 256), (256, 300)]
