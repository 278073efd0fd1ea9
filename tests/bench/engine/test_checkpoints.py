"""Random checkpoints in the real layout."""

import hashlib
import json
import math
from pathlib import Path

import torch

from bench.engine.checkpoints import VAE_METADATA, Pair, pair_without_weights, weights_header
from bench.engine.options import REAL_SIZE
from engine.yue2.files.checkpoint import Checkpoint
from engine.yue2.files.config import read_model_config, read_vae_config
from engine.yue2.files.tensors import model_tensors, vae_tensors

REAL_MODEL_BYTES, REAL_VAE_BYTES = 7_261_441_640, 530_512_720  # as published


def test_both_have_what_the_engine_expects(pair: Pair) -> None:
    config = read_model_config(pair.model)
    assert (config.layers, config.hidden_size, config.heads, config.ffn_size) == (1, 64, 2, 64)
    with Checkpoint(pair.model, model_tensors(config)) as model:
        head = model.tensor("lm_head.weight").float()
        norm = model.tensor("model.norm.weight").float()
    assert 0.12 < head.std().item() < 0.13  # one over the root of 64
    assert len(torch.unique(head[:1000], dim=0)) == 1000
    assert 0.9 < norm.mean().item() < 1.1
    with Checkpoint(pair.vae, vae_tensors(read_vae_config(pair.vae))) as vae:
        assert torch.isfinite(vae.tensor("decoder.layers.0.weight_v")).all()


def test_manifests_hold_the_digests(pair: Pair) -> None:
    for folder in (pair.model, pair.vae):
        raw = (folder / "model.safetensors").read_bytes()
        listed = json.loads((folder / "weights_manifest.json").read_text())["files"]["model.safetensors"]
        assert listed == {"bytes": len(raw), "sha256": hashlib.sha256(raw).hexdigest()}


def test_the_real_size_gives_files_of_the_published_length(tmp_path: Path) -> None:
    real = pair_without_weights(tmp_path, REAL_SIZE)
    model = model_tensors(read_model_config(real.model))
    vae = vae_tensors(read_vae_config(real.vae))
    values = [sum(math.prod(spec.shape) for spec in specs.values()) for specs in (model, vae)]
    assert len(weights_header(model, {})) + 2 * values[0] == REAL_MODEL_BYTES
    assert len(weights_header(vae, VAE_METADATA)) + 4 * values[1] == REAL_VAE_BYTES
