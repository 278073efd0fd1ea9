"""What a client is told of the YuE2 model."""

from collections.abc import Iterable
from math import prod

from pydantic import JsonValue

from engine.yue2.files.config import ModelConfig, VaeConfig
from engine.yue2.files.tensors import (
    TensorSpec,
    acoustic_names,
    decoder_names,
    model_tensors,
    vae_tensors,
)
from engine.yue2.machine.memory import BRANCHES, Allowance, Footprint
from engine.yue2.network.precision import Precision

LICENCE = "CC BY-NC 4.0"  # of the weights, not of this code
_DESCRIPTION = (
    "Sings: writes a score from style and lyrics, performs it as semantic codes, renders those as acoustic latents "
    "and decodes them to stereo sound. A score can be given instead."
)


def description(
    model_id: str,
    device: str,
    precision: Precision,
    sizes: Footprint,
    allowed: Allowance,
    model: ModelConfig,
    vae: VaeConfig,
) -> dict[str, JsonValue]:
    """The model as `/props` tells of it; sizes in bytes, the cache's for one sequence of the longest length."""
    return {
        "id": model_id,
        "kind": "yue2",
        "description": _DESCRIPTION,
        "licence": LICENCE,
        "languages": ["any"],
        "operations": ["synth", "plan", "vae"],
        "unsupported_fields": ["lora"],
        "ignored_fields": [],
        "defaults": {},
        "device": device,
        "precision": precision.name,
        "residency": "stage" if allowed.staged else "keep",
        "parameters": _parameters(model, vae),
        "weights_bytes": _weights(sizes),
        "cache": _cache(sizes, allowed),
        "songs_at_once": allowed.songs_at_once(1),
        "guided_songs_at_once": allowed.songs_at_once(BRANCHES),
        "variations_at_once": allowed.variations,
        "sample_rate_hz": vae.sample_rate_hz,
        "latent_channels": vae.latent_dim,
    }


def _parameters(model: ModelConfig, vae: VaeConfig) -> dict[str, JsonValue]:
    tensors = model_tensors(model)
    return {
        "decoder": _count(tensors[name] for name in decoder_names(model)),
        "acoustic": _count(tensors[name] for name in acoustic_names(model)),
        "vae": _count(vae_tensors(vae).values()),
    }


def _count(tensors: Iterable[TensorSpec]) -> int:
    return sum(prod(tensor.shape) for tensor in tensors)


def _weights(sizes: Footprint) -> dict[str, JsonValue]:
    return {"decoder": sizes.decoder_bytes, "acoustic": sizes.acoustic_bytes, "vae": sizes.vae_bytes}


def _cache(sizes: Footprint, allowed: Allowance) -> dict[str, JsonValue]:
    """Of one sequence; a guided song has two while its codes are drawn."""
    size = sizes.position_bytes * allowed.positions
    return {"tokens": allowed.positions, "bytes_per_token": sizes.position_bytes, "bytes": size}
