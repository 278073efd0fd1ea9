import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.errors import CheckpointError
from engine.request import AbcSampling, SemanticSampling
from engine.yue2.files.config import (
    ModelConfig,
    VaeBlock,
    VaeConfig,
    read_context,
    read_model_config,
    read_vae_config,
)


def changed(source: Path, folder: Path, change: Callable[[dict[str, Any]], object]) -> Path:
    """A folder with a copy of a JSON file, changed."""
    values = json.loads(source.read_bytes())
    change(values)
    (folder / source.name).write_text(json.dumps(values), encoding="utf-8")
    return folder


def test_the_tiny_models_shape_is_read(model_config: ModelConfig) -> None:
    assert model_config == ModelConfig(16, 3, 4, 2, 8, 24, 184_704, 1e-6, 1e6, 24_576, 64, 24_576, 1.0)
    assert (model_config.q_width, model_config.kv_width) == (32, 16)


def test_the_tiny_vaes_shape_is_read(vae_config: VaeConfig) -> None:
    assert vae_config == VaeConfig(
        2, (1, 2, 4, 8, 16, 32), (2, 2, 4, 4, 5, 6), 64, 128, 48_000, 1_920, 2, 1_024, 16, "standard"
    )
    assert vae_config.blocks[0] == VaeBlock(2, 2, 2)
    assert vae_config.blocks[1] == VaeBlock(2, 4, 2)
    assert vae_config.blocks[-1] == VaeBlock(32, 64, 6)
    assert vae_config.widest == 64


def test_the_released_defaults_are_a_requests_own(model_folder: Path) -> None:
    told = json.loads((model_folder / "yue2_generation_config.json").read_bytes())
    assert read_context(model_folder) == told["context"] == 24_576
    assert told["abc"] == AbcSampling().model_dump()
    assert told["semantic"] == SemanticSampling().model_dump()


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("model_type", "qwen3"),
        ("latent_type", "mel"),
        ("tie_word_embeddings", True),
        ("hidden_size", -16),
        ("hidden_size", 17),
        ("hidden_size", 10**9),
        ("num_hidden_layers", 0),
        ("num_attention_heads", 2.5),
        ("num_key_value_heads", 3),
        ("head_dim", 7),
        ("intermediate_size", None),
        ("vocab_size", 151_936),
        ("rms_norm_eps", 0),
        ("rope_theta", "1e6"),
        ("max_position_embeddings", 0),
        ("latent_dim", 0),
        ("max_latent_frames", 1),
        ("timestep_shift", -1.0),
    ],
)
def test_a_model_that_cannot_be_computed_is_refused(
    model_folder: Path, tmp_path: Path, field: str, value: object
) -> None:
    folder = changed(model_folder / "config.json", tmp_path, lambda values: values.update({field: value}))
    with pytest.raises(CheckpointError, match=rf"{field} in config\.json must be .*, but is"):
        read_model_config(folder)


@pytest.mark.parametrize("field", ["hidden_size", "latent_type", "timestep_shift"])
def test_a_model_without_a_value_is_refused(model_folder: Path, tmp_path: Path, field: str) -> None:
    folder = changed(model_folder / "config.json", tmp_path, lambda values: values.pop(field))
    with pytest.raises(CheckpointError, match=rf"{field} is missing from config\.json"):
        read_model_config(folder)


def test_the_vaes_folder_is_no_model_and_the_other_way_round(model_folder: Path, vae_folder: Path) -> None:
    with pytest.raises(
        CheckpointError, match=r'model_type in config\.json must be "yue2", but is "yue2_vae"'
    ):
        read_model_config(vae_folder)
    with pytest.raises(
        CheckpointError, match=r'model_type in config\.json must be "yue2_vae", but is "yue2"'
    ):
        read_vae_config(model_folder)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("sample_rate", 44_100),
        ("audio_channels", 1),
        ("latent_dim", 32),
        ("downsampling_ratio", 1_921),
        ("decode_core_frames", 0),
        ("decode_halo_frames", 11),
        ("release_variant", None),
        ("encoder_config", []),
        ("decoder_config.use_snake", False),
        ("decoder_config.final_tanh", True),
        ("decoder_config.use_filter", True),
        ("decoder_config.snake_type", "beta"),
        ("decoder_config.out_channels", 1),
        ("decoder_config.strides", [2, 2, 4, 4, 5, 5]),
        ("decoder_config.c_mults", [1, 2]),
        ("decoder_config.channels", 4),
        ("encoder_config.latent_dim", 64),
        ("encoder_config.in_channels", 1),
    ],
)
def test_a_vae_that_cannot_be_computed_is_refused(
    vae_folder: Path, tmp_path: Path, field: str, value: object
) -> None:
    outer, _, inner = field.rpartition(".")

    def change(values: dict[str, Any]) -> None:
        (values[outer] if outer else values)[inner] = value

    with pytest.raises(CheckpointError, match=r" in config\.json must be .*, but is"):
        read_vae_config(changed(vae_folder / "config.json", tmp_path, change))


def test_a_vae_whose_halves_have_too_few_widths_is_refused(vae_folder: Path, tmp_path: Path) -> None:
    def change(values: dict[str, Any]) -> None:
        for half in ("encoder_config", "decoder_config"):
            values[half]["c_mults"] = [1, 2]

    with pytest.raises(CheckpointError, match=r"decoder_config\.c_mults .* as long as strides, which has 6"):
        read_vae_config(changed(vae_folder / "config.json", tmp_path, change))


@pytest.mark.parametrize(
    ("stage", "field", "value"),
    [
        ("", "ode_method", "euler"),
        ("", "version", "2"),
        ("", "context", 10**6),
        ("", "ode_steps", 0),
        ("abc", "top_p", 2),
        ("semantic", "max_tokens", "9"),
        ("abc", "min_tokens", 5_000),
        ("abc", "beams", 4),
        ("", "ode_steps", 16),
        ("", "ode_steps", True),
        ("abc", "temperature", 0.8),
        ("semantic", "max_tokens", 9001),
        ("semantic", "top_k", None),
    ],
)
def test_other_defaults_than_a_requests_own_are_refused(
    model_folder: Path, tmp_path: Path, stage: str, field: str, value: object
) -> None:
    def change(values: dict[str, Any]) -> None:
        (values[stage] if stage else values)[field] = value

    folder = changed(model_folder / "yue2_generation_config.json", tmp_path, change)
    with pytest.raises(CheckpointError, match=r" in yue2_generation_config\.json must be .*, but is"):
        read_context(folder)
