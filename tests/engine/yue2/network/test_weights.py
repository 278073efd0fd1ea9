from dataclasses import dataclass

import pytest
import torch

from engine.control import Check, unchecked
from engine.errors import NumericalError
from engine.yue2.files.checkpoint import Checkpoint
from engine.yue2.files.config import ModelConfig
from engine.yue2.files.tensors import BYTES_OF, acoustic_names, decoder_names, model_tensors
from engine.yue2.network.precision import choose
from engine.yue2.network.weights import load_acoustic, load_decoder
from tests.engine.yue2.halves import CPU, StopAt, checks_of

FP32 = choose(CPU, "fp32")


def test_products_with_one_input_are_one_in_their_order(
    checkpoint: Checkpoint, model_config: ModelConfig
) -> None:
    decoder = load_decoder(checkpoint, model_config, CPU, FP32, unchecked)
    acoustic = load_acoustic(checkpoint, model_config, CPU, FP32, unchecked)
    for half, layer in (("", decoder.layers[1]), ("nar_", acoustic.layers[1])):
        parts = [checkpoint.tensor(f"model.layers.1.{half}self_attn.{name}_proj.weight") for name in "qkv"]
        assert torch.equal(layer.qkv, torch.cat(parts).float())
        parts = [checkpoint.tensor(f"model.layers.1.{half}mlp.{name}_proj.weight") for name in ("gate", "up")]
        assert torch.equal(layer.gate_up, torch.cat(parts).float())
        norms = [checkpoint.tensor(f"model.layers.1.{half}self_attn.{name}_norm.weight") for name in "qk"]
        assert torch.equal(layer.head_norms, torch.stack([*[norms[0]] * 4, *[norms[1]] * 2]).float())
    assert torch.equal(
        acoustic.layers[0].ffn_norm, checkpoint.tensor("model.layers.0.nar_pre_mlp_layernorm.weight").float()
    )
    assert torch.equal(decoder.final_norm, acoustic.final_norm)


def test_weights_take_the_formats_of_the_precision(checkpoint: Checkpoint, model_config: ModelConfig) -> None:
    precision = choose(CPU, "auto")
    decoder = load_decoder(checkpoint, model_config, CPU, precision, unchecked)
    acoustic = load_acoustic(checkpoint, model_config, CPU, precision, unchecked)
    assert {tensor.dtype for tensor in (decoder.head, decoder.layers[0].qkv, decoder.layers[2].down)} == {
        torch.float16
    }
    assert {tensor.dtype for tensor in (decoder.embedding, acoustic.positions)} == {torch.bfloat16}
    assert acoustic.layers[0].output.dtype is torch.bfloat16
    assert {decoder.final_norm.dtype, acoustic.layers[0].head_norms.dtype, acoustic.into.weight.dtype} == {
        torch.float32
    }
    assert torch.allclose(decoder.head.float(), checkpoint.tensor("lm_head.weight").float(), atol=1e-7)


def test_bytes_are_those_of_the_file_in_its_format(checkpoint: Checkpoint, model_config: ModelConfig) -> None:
    precision = choose(CPU, "bf16")
    specs = model_tensors(model_config)

    def stored(names: tuple[str, ...]) -> int:
        return sum(checkpoint.tensor(name).numel() * BYTES_OF[specs[name].dtype] for name in names)

    decoder = load_decoder(checkpoint, model_config, CPU, precision, unchecked)
    acoustic = load_acoustic(checkpoint, model_config, CPU, precision, unchecked)
    small = 0.02  # norms and the products at the ends are wider
    assert decoder.bytes == pytest.approx(stored(decoder_names(model_config)), rel=small)
    assert acoustic.bytes == pytest.approx(stored(acoustic_names(model_config)), rel=small)


def test_loading_can_be_stopped_within_a_tensor(
    checkpoint: Checkpoint, model_config: ModelConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.yue2.network.weights.SLICE_VALUES", 2**20)

    def load(check: Check) -> object:
        return load_decoder(checkpoint, model_config, CPU, FP32, check)

    checks = checks_of(load)
    assert checks == 2 * 3 + 1 + 3 * 11
    for count in (1, 2, checks):
        with pytest.raises(InterruptedError):
            load(StopAt(count))


@dataclass(frozen=True, slots=True)
class Enlarged:
    """A source of tensors of which one is all of one value, by default too large for float16."""

    checkpoint: Checkpoint
    name: str
    value: float = 70_000

    def tensor(self, name: str) -> torch.Tensor:
        stored = self.checkpoint.tensor(name)
        return torch.full_like(stored, self.value) if name == self.name else stored


def test_a_weight_that_does_not_fit_is_refused(checkpoint: Checkpoint, model_config: ModelConfig) -> None:
    source = Enlarged(checkpoint, "model.layers.2.mlp.up_proj.weight")
    with pytest.raises(NumericalError, match="set YUE2_PRECISION to bf16 or fp32"):
        load_decoder(source, model_config, CPU, choose(CPU, "fp16"), unchecked)
    assert load_decoder(source, model_config, CPU, choose(CPU, "bf16"), unchecked).layers


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_a_weight_that_is_no_number_is_told_as_damage(
    checkpoint: Checkpoint, model_config: ModelConfig, value: float
) -> None:
    source = Enlarged(checkpoint, "model.layers.2.mlp.up_proj.weight", value)
    with pytest.raises(NumericalError, match="damaged: pull the model again"):
        load_decoder(source, model_config, CPU, choose(CPU, "fp16"), unchecked)
