"""What a client is told of the YuE2 model."""

from pydantic import JsonValue

from engine.yue2.files.config import VaeConfig
from engine.yue2.machine.memory import Allowance, Footprint
from engine.yue2.network.precision import Precision

LICENCE = "CC BY-NC 4.0"  # of the weights, not of this code
FLOAT32_BYTES = 4
_DESCRIPTION = (
    "Sings: writes a score from style and lyrics, performs it as semantic codes, renders those as acoustic latents "
    "and decodes them to stereo sound. A score can be given instead."
)


def description(
    model_id: str, device: str, precision: Precision, sizes: Footprint, allowed: Allowance, vae: VaeConfig
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
        "parameters": _parameters(sizes, precision),
        "weights_bytes": _weights(sizes),
        "cache": _cache(sizes, allowed),
        "songs_at_once": allowed.sequences,
        "variations_at_once": allowed.variations,
        "sample_rate_hz": vae.sample_rate_hz,
        "latent_channels": vae.latent_dim,
    }


def _parameters(sizes: Footprint, precision: Precision) -> dict[str, JsonValue]:
    return {
        "decoder": sizes.decoder_bytes // precision.decoder.itemsize,
        "acoustic": sizes.acoustic_bytes // precision.acoustic.itemsize,
        "vae": sizes.vae_bytes // FLOAT32_BYTES,
    }


def _weights(sizes: Footprint) -> dict[str, JsonValue]:
    return {"decoder": sizes.decoder_bytes, "acoustic": sizes.acoustic_bytes, "vae": sizes.vae_bytes}


def _cache(sizes: Footprint, allowed: Allowance) -> dict[str, JsonValue]:
    """Of one sequence; a guided song has two while its codes are drawn."""
    size = sizes.position_bytes * allowed.positions
    return {"tokens": allowed.positions, "bytes_per_token": sizes.position_bytes, "bytes": size}
