"""What a client is told of the YuE2 model."""

from pydantic import JsonValue

from engine.yue2.config import VaeConfig
from engine.yue2.memory import Allowance, Footprint
from engine.yue2.precision import Precision

LICENCE = "CC BY-NC 4.0"  # of the weights, not of this code


def description(
    model_id: str, device: str, precision: Precision, sizes: Footprint, allowed: Allowance, vae: VaeConfig
) -> dict[str, JsonValue]:
    """The model as `/props` tells of it; sizes in bytes, the cache's for one sequence of the longest length."""
    return {
        "id": model_id,
        "kind": "yue2",
        "description": (
            "Sings: writes a score from style and lyrics, performs it as semantic codes, renders those as acoustic "
            "latents and decodes them to stereo sound. A score can be given instead."
        ),
        "licence": LICENCE,
        "languages": ["any"],
        "operations": ["synth", "plan", "vae"],
        "unsupported_fields": ["lora"],
        "ignored_fields": [],
        "defaults": {},
        "device": device,
        "precision": precision.name,
        "residency": "stage" if allowed.staged else "keep",
        "parameters": {
            "decoder": sizes.decoder_bytes // precision.decoder.itemsize,
            "acoustic": sizes.acoustic_bytes // precision.acoustic.itemsize,
            "vae": sizes.vae_bytes // 4,
        },
        "weights_bytes": {
            "decoder": sizes.decoder_bytes,
            "acoustic": sizes.acoustic_bytes,
            "vae": sizes.vae_bytes,
        },
        "cache": {
            "tokens": allowed.positions,
            "bytes_per_token": sizes.position_bytes,
            "bytes": sizes.position_bytes * allowed.positions,
        },
        "songs_at_once": allowed.sequences,
        "variations_at_once": allowed.variations,
        "sample_rate_hz": vae.sample_rate_hz,
        "latent_channels": vae.latent_dim,
    }
