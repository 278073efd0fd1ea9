"""The tensors that a YuE2 model and its VAE must have, by name: shape and dtype as safetensors writes them."""

from collections.abc import Iterator
from dataclasses import dataclass

from engine.yue2.files.config import ModelConfig, VaeConfig

TIME_FEATURES = 256  # cosines and sines of the time value
BF16 = "BF16"
F32 = "F32"
BYTES_OF = {BF16: 2, F32: 4}


@dataclass(frozen=True, slots=True)
class TensorSpec:
    """A tensor's shape and its dtype in safetensors' word, `BF16` or `F32`."""

    shape: tuple[int, ...]
    dtype: str


Shapes = dict[str, tuple[int, ...]]


def model_tensors(config: ModelConfig) -> dict[str, TensorSpec]:
    """All tensors of the backbone, bfloat16: 628 for the 28 layers of YuE2-3B."""
    shapes = _decoder_shapes(config) | _acoustic_shapes(config)
    return {name: TensorSpec(shapes[name], BF16) for name in sorted(shapes)}


def decoder_names(config: ModelConfig) -> tuple[str, ...]:
    """Names of the autoregressive half, the shared final norm among them."""
    return tuple(sorted(_decoder_shapes(config)))


def acoustic_names(config: ModelConfig) -> tuple[str, ...]:
    """Names of what only the acoustic half has; it also needs the shared final norm."""
    return tuple(sorted(_acoustic_shapes(config)))


def _decoder_shapes(config: ModelConfig) -> Shapes:
    shapes: Shapes = {
        "model.embed_tokens.weight": (config.vocab_size, config.hidden_size),
        "model.norm.weight": (config.hidden_size,),
        "lm_head.weight": (config.vocab_size, config.hidden_size),
    }
    for layer in range(config.layers):
        shapes |= _layer_shapes(config, f"model.layers.{layer}.", "", "post_attention_layernorm")
    return shapes


def _acoustic_shapes(config: ModelConfig) -> Shapes:
    width = config.hidden_size
    shapes: Shapes = {
        "vae2llm.weight": (width, config.latent_dim),
        "vae2llm.bias": (width,),
        "llm2vae.weight": (config.latent_dim, width),
        "llm2vae.bias": (config.latent_dim,),
        "time_embedder.mlp.0.weight": (width, TIME_FEATURES),
        "time_embedder.mlp.0.bias": (width,),
        "time_embedder.mlp.2.weight": (width, width),
        "time_embedder.mlp.2.bias": (width,),
        "latent_pos_embed.pe": (config.max_latent_frames, width),
    }
    for layer in range(config.layers):
        shapes |= _layer_shapes(config, f"model.layers.{layer}.", "nar_", "nar_pre_mlp_layernorm")
    return shapes


def _layer_shapes(config: ModelConfig, layer: str, half: str, mlp_norm: str) -> Shapes:
    width, ffn = config.hidden_size, config.ffn_size
    attention, mlp = f"{layer}{half}self_attn.", f"{layer}{half}mlp."
    return {
        f"{layer}{half}input_layernorm.weight": (width,),
        f"{attention}q_proj.weight": (config.q_width, width),
        f"{attention}k_proj.weight": (config.kv_width, width),
        f"{attention}v_proj.weight": (config.kv_width, width),
        f"{attention}o_proj.weight": (width, config.q_width),
        f"{attention}q_norm.weight": (config.head_dim,),
        f"{attention}k_norm.weight": (config.head_dim,),
        f"{layer}{mlp_norm}.weight": (width,),
        f"{mlp}gate_proj.weight": (ffn, width),
        f"{mlp}up_proj.weight": (ffn, width),
        f"{mlp}down_proj.weight": (width, ffn),
    }


def vae_tensors(config: VaeConfig) -> dict[str, TensorSpec]:
    """All tensors of the VAE, float32: 435 for the six blocks of YuE2-Vae.

    Convolutions are stored as weight norm's pairs `weight_g` and `weight_v`, in two dimensions of which a
    transposed one has its inputs first; names are positions.
    """
    shapes = dict(_decoder_side(config)) | dict(_encoder_side(config))
    return {name: TensorSpec(shapes[name], F32) for name in sorted(shapes)}


Named = Iterator[tuple[str, tuple[int, ...]]]


def _decoder_side(config: VaeConfig) -> Named:
    blocks = config.blocks[::-1]
    yield from _convolution("decoder.layers.0", config.latent_dim, config.widest, 7)
    for position, block in enumerate(blocks, start=1):
        name = f"decoder.layers.{position}.layers"
        yield from _snake(f"{name}.0", block.wide)
        yield from _transposed(f"{name}.1", block.wide, block.narrow, 2 * block.stride)
        for unit in (2, 3, 4):
            yield from _residual_unit(f"{name}.{unit}", block.narrow)
    last, channels = len(blocks) + 1, blocks[-1].narrow
    yield from _snake(f"decoder.layers.{last}", channels)
    yield from _convolution(f"decoder.layers.{last + 1}", channels, config.audio_channels, 7, bias=False)


def _encoder_side(config: VaeConfig) -> Named:
    blocks = config.blocks
    yield from _convolution("encoder.layers.0", config.audio_channels, blocks[0].narrow, 7)
    for position, block in enumerate(blocks, start=1):
        name = f"encoder.layers.{position}.layers"
        for unit in (0, 1, 2):
            yield from _residual_unit(f"{name}.{unit}", block.narrow)
        yield from _snake(f"{name}.3", block.narrow)
        yield from _convolution(f"{name}.4", block.narrow, block.wide, 2 * block.stride)
    last = len(blocks) + 1
    yield from _snake(f"encoder.layers.{last}", config.widest)
    yield from _convolution(f"encoder.layers.{last + 1}", config.widest, config.encoder_latent_dim, 3)


def _residual_unit(name: str, channels: int) -> Named:
    yield from _snake(f"{name}.layers.0", channels)
    yield from _convolution(f"{name}.layers.1", channels, channels, 7)
    yield from _snake(f"{name}.layers.2", channels)
    yield from _convolution(f"{name}.layers.3", channels, channels, 1)


def _snake(name: str, channels: int) -> Named:
    yield f"{name}.alpha", (channels,)
    yield f"{name}.beta", (channels,)


def _convolution(name: str, inputs: int, outputs: int, kernel: int, *, bias: bool = True) -> Named:
    yield f"{name}.weight_v", (outputs, inputs, kernel)
    yield f"{name}.weight_g", (outputs, 1, 1)
    if bias:
        yield f"{name}.bias", (outputs,)


def _transposed(name: str, inputs: int, outputs: int, kernel: int) -> Named:
    yield f"{name}.weight_v", (inputs, outputs, kernel)
    yield f"{name}.weight_g", (inputs, 1, 1)
    yield f"{name}.bias", (outputs,)
