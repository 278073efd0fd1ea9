import pytest
import torch

from engine.yue2.files.config import ModelConfig
from engine.yue2.network.layers import Layer, add_attended, add_feed_forward, project, rms_norm
from engine.yue2.network.rotary import Rotary

CPU = torch.device("cpu")
EPSILON = 1e-6


def random(*shape: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(len(shape) * 100 + shape[0]))


@pytest.fixture(scope="module")
def layer(model_config: ModelConfig) -> Layer:
    config = model_config
    fused = config.q_width + 2 * config.kv_width
    return Layer(
        qkv=random(fused, config.hidden_size) / 4,
        output=random(config.hidden_size, config.q_width) / 4,
        gate_up=random(2 * config.ffn_size, config.hidden_size) / 4,
        down=random(config.hidden_size, config.ffn_size) / 4,
        input_norm=random(config.hidden_size),
        ffn_norm=random(config.hidden_size),
        head_norms=random(config.heads + config.kv_heads, config.head_dim),
    )


def plain_rms(rows: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return rows / torch.sqrt((rows * rows).mean(dim=-1, keepdim=True) + EPSILON) * weight


def test_norm_divides_by_the_root_of_the_mean_square() -> None:
    rows, weight, weights = random(5, 3, 8), random(8), random(3, 8)
    assert torch.allclose(rms_norm(rows, weight, EPSILON), plain_rms(rows, weight), atol=1e-6)
    assert torch.allclose(rms_norm(rows, weights, EPSILON), plain_rms(rows, weights), atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_the_epsilon_counts_where_rows_are_small(dtype: torch.dtype) -> None:
    rows, weight = (random(5, 16) * 1e-3).to(dtype), torch.ones(16, dtype=dtype)
    found = rms_norm(rows, weight, EPSILON).double()
    squares = rows.double().square().mean(dim=-1, keepdim=True)  # about as large as the epsilon
    assert torch.allclose(found, rows.double() / (squares + EPSILON).sqrt(), rtol=0.02, atol=0)


def test_norm_in_half_precision_rounds_the_factor_before_it_multiplies() -> None:
    rows, weight = random(5, 16).bfloat16(), random(16).bfloat16()
    factor = (1 / torch.sqrt(rows.float().square().mean(dim=-1, keepdim=True) + EPSILON)).bfloat16()
    assert torch.equal(rms_norm(rows, weight, EPSILON), rows * factor * weight)


def test_projection_norms_and_turns_queries_and_keys_alone(layer: Layer, model_config: ModelConfig) -> None:
    rows, angles = random(7, 16), Rotary(model_config, CPU, torch.float32).between(40, 47)
    normed = plain_rms(rows, layer.input_norm)
    heads = normed @ layer.qkv.T  # (7, 64)
    queries, keys, values = heads[:, :32].reshape(7, 4, 8), heads[:, 32:48].reshape(7, 2, 8), heads[:, 48:]
    found = project(layer, rows, angles, model_config)
    turned = angles.turn(plain_rms(queries, layer.head_norms[:4]))
    assert torch.allclose(found.queries, turned, atol=1e-5)
    turned = angles.turn(plain_rms(keys, layer.head_norms[4:]))
    assert torch.allclose(found.keys, turned, atol=1e-5)
    assert torch.allclose(found.values, values.view(7, 2, 8), atol=1e-5)


def test_residual_rows_are_added_to(layer: Layer, model_config: ModelConfig) -> None:
    rows, attended = random(7, 16), random(9, 32)[:7]
    expected = rows + attended @ layer.output.T
    add_attended(layer, rows, attended)
    assert torch.allclose(rows, expected, atol=1e-5)
    normed = plain_rms(rows, layer.ffn_norm)
    gate, up = normed @ layer.gate_up[:24].T, normed @ layer.gate_up[24:].T
    expected = rows + (gate * torch.sigmoid(gate) * up) @ layer.down.T
    add_feed_forward(layer, rows, model_config)
    assert torch.allclose(rows, expected, atol=1e-4)


def test_products_are_in_the_dtype_of_weights_and_the_stream_in_its_own(
    layer: Layer, model_config: ModelConfig
) -> None:
    halves = {name: getattr(layer, name).bfloat16() for name in ("qkv", "output", "gate_up", "down")}
    half = Layer(**halves, input_norm=layer.input_norm, ffn_norm=layer.ffn_norm, head_norms=layer.head_norms)
    rows, angles = random(7, 16), Rotary(model_config, CPU, torch.float32).between(0, 7)
    projection = project(half, rows, angles, model_config)
    assert (projection.queries.dtype, projection.values.dtype) == (torch.float32, torch.bfloat16)
    exact = rows.clone()
    add_feed_forward(half, rows, model_config)
    add_feed_forward(layer, exact, model_config)
    assert rows.dtype is torch.float32
    assert torch.allclose(rows, exact, atol=0.2)
    assert len(list(half.tensors())) == 7
