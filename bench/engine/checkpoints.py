"""Random checkpoints in the real layout: `random_checkpoints` writes a pair of any size, slice by slice.

The same size gives the same files. Weights are slices of one pool of normal numbers, scaled so that activations stay
near 1; the pool's length is prime, so no two rows of a table are equal.
"""

import hashlib
import json
import math
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from bench.engine.options import Size
from bench.processes import ROOT
from engine.yue2.files.config import read_model_config, read_vae_config
from engine.yue2.files.tensors import TensorSpec, model_tensors, vae_tensors

TINY = ROOT / "tests" / "data" / "yue2"
MODEL, VAE = "YuE2-3B", "YuE2-Vae"
POOL = 4_194_319
COPIED = ("qwen.tiktoken", "yue2_generation_config.json")
Config = dict[str, Any]
VAE_METADATA = {"__metadata__": {"format": "pt"}}
DTYPES = {"BF16": torch.bfloat16, "F32": torch.float32}


@dataclass(frozen=True, slots=True)
class Pair:
    """The folders of a backbone and of a codec."""

    model: Path
    vae: Path


def random_checkpoints(directory: Path, size: Size) -> Pair:
    """Write both below a folder."""
    pair = pair_without_weights(directory, size)
    _write_weights(pair.model, model_tensors(read_model_config(pair.model)), {})
    _write_weights(pair.vae, vae_tensors(read_vae_config(pair.vae)), VAE_METADATA)
    return pair


def pair_without_weights(directory: Path, size: Size) -> Pair:
    """Write the small files of both below a folder."""
    pair = Pair(directory / MODEL, directory / VAE)
    for folder in (pair.model, pair.vae):
        folder.mkdir()
    for name in COPIED:
        shutil.copyfile(TINY / f"{MODEL}-tiny" / name, pair.model / name)
    _write_json(pair.model / "config.json", _model_config(size))
    _write_json(pair.vae / "config.json", _vae_config(size))
    return pair


def _model_config(size: Size) -> Config:
    return _tiny_config(MODEL) | {
        "hidden_size": size.hidden,
        "num_hidden_layers": size.layers,
        "num_attention_heads": size.heads,
        "num_key_value_heads": size.kv_heads,
        "head_dim": size.head_dim,
        "intermediate_size": size.ffn,
    }


def _vae_config(size: Size) -> Config:
    config = _tiny_config(VAE)
    for half in ("encoder_config", "decoder_config"):
        config[half]["channels"] = size.vae_channels
    return config


def _tiny_config(name: str) -> Config:
    read: Config = json.loads((TINY / f"{name}-tiny" / "config.json").read_text())
    return read


def _write_json(path: Path, document: object) -> None:
    path.write_text(json.dumps(document, indent=2) + "\n")


def _write_weights(folder: Path, tensors: Mapping[str, TensorSpec], metadata: Mapping[str, object]) -> None:
    """`model.safetensors` and its manifest; the header is as safetensors documents it."""
    path, digest = folder / "model.safetensors", hashlib.sha256()
    pools = {name: _pool(dtype) for name, dtype in DTYPES.items()}
    with path.open("wb") as file:

        def write(raw: bytes | memoryview) -> None:
            file.write(raw)
            digest.update(raw)

        write(weights_header(tensors, metadata))
        first = 0
        for name, spec in tensors.items():
            for values in _slices(name, spec, pools[spec.dtype], first):
                write(values.view(torch.uint8).numpy().data)
            first = (first + math.prod(spec.shape)) % POOL
    listed = {path.name: {"bytes": path.stat().st_size, "sha256": digest.hexdigest()}}
    _write_json(folder / "weights_manifest.json", {"schema": 1, "files": listed})


def weights_header(tensors: Mapping[str, TensorSpec], metadata: Mapping[str, object]) -> bytes:
    """Its length and the JSON that says where each tensor lies."""
    header: dict[str, object] = dict(metadata)
    start = 0
    for name, spec in tensors.items():
        stop = start + math.prod(spec.shape) * DTYPES[spec.dtype].itemsize
        header[name] = {"dtype": spec.dtype, "shape": list(spec.shape), "data_offsets": [start, stop]}
        start = stop
    written = json.dumps(header, separators=(",", ":")).encode()
    written += b" " * (-len(written) % 8)
    return len(written).to_bytes(8, "little") + written


def _pool(dtype: torch.dtype) -> torch.Tensor:
    return torch.randn(POOL, generator=torch.Generator().manual_seed(831001)).to(dtype)


def _slices(name: str, spec: TensorSpec, pool: torch.Tensor, first: int) -> Iterator[torch.Tensor]:
    """The values of one tensor, at most the pool at once; each goes on in the pool where the last left off."""
    center, scale = _distribution(name, spec)
    missing = math.prod(spec.shape)
    while missing:
        values = pool[first : first + missing]
        yield values * scale + center
        missing -= len(values)
        first = 0


def _distribution(name: str, spec: TensorSpec) -> tuple[float, float]:
    """Mean and deviation: near 1 what multiplies, near 0 logarithms and biases, and products keep their scale."""
    if name.endswith(("norm.weight", "weight_g")):
        return 1.0, 0.1
    if len(spec.shape) == 1:
        return 0.0, 0.1
    if name.endswith(("embed_tokens.weight", "pe", "weight_v")):
        return 0.0, 1.0
    return 0.0, spec.shape[-1] ** -0.5
