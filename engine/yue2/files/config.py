"""The shape of a YuE2 model and of its VAE, and the protocol's context, as their folders' JSON files say.

`config.json` of both and `yue2_generation_config.json` of the model are the files of m-a-p/YuE2-3B and
m-a-p/YuE2-Vae. Values that the engine cannot compute with are refused as CheckpointError.
"""

import math
from dataclasses import dataclass
from pathlib import Path

from engine.request import CONTEXT_TOKENS, AbcSampling, Sampling, SemanticSampling, SongRequest
from engine.yue2.files.fields import Fields
from engine.yue2.vocabulary import VOCABULARY

CONFIG_FILE = "config.json"
GENERATION_FILE = "yue2_generation_config.json"
EXACT_HALO_FRAMES = 12  # how far the decoder looks to either side; with less, tiles show at their seams


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """The shape of the backbone; both halves have it."""

    hidden_size: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn_size: int
    vocab_size: int
    rms_norm_eps: float
    rope_theta: float
    max_positions: int  # tokens and acoustic rows together
    latent_dim: int
    max_latent_frames: int  # rows of the position table
    timestep_shift: float

    @property
    def q_width(self) -> int:
        """Width of all query heads together."""
        return self.heads * self.head_dim

    @property
    def kv_width(self) -> int:
        """Width of all key heads together, and of all value heads."""
        return self.kv_heads * self.head_dim


@dataclass(frozen=True, slots=True)
class VaeBlock:
    """One change of rate: `narrow` channels on the sound's side, `wide` on the latents', `stride` times the rate."""

    narrow: int
    wide: int
    stride: int


@dataclass(frozen=True, slots=True)
class VaeConfig:
    """The shape of the VAE; encoder and decoder mirror each other."""

    channels: int
    c_mults: tuple[int, ...]
    strides: tuple[int, ...]
    latent_dim: int
    encoder_latent_dim: int  # mean and scale
    sample_rate_hz: int
    downsampling_ratio: int  # samples of one latent frame
    audio_channels: int
    core_frames: int
    halo_frames: int
    release_variant: str

    @property
    def blocks(self) -> tuple[VaeBlock, ...]:
        """From the sound to the latents: the encoder's order, the decoder's reversed."""
        widths = [self.channels * multiple for multiple in (1, *self.c_mults)]
        return tuple(map(VaeBlock, widths, widths[1:], self.strides))

    @property
    def widest(self) -> int:
        """Channels at the latents' rate."""
        return self.blocks[-1].wide


def read_model_config(folder: Path) -> ModelConfig:
    """Read `config.json` of the backbone; raises CheckpointError."""
    fields = Fields.read(folder, CONFIG_FILE)
    fields.fixed("model_type", "yue2")
    fields.fixed("latent_type", "vae")
    fields.fixed("tie_word_embeddings", False)
    config = ModelConfig(
        hidden_size=fields.whole("hidden_size", 2, 65_536),
        layers=fields.whole("num_hidden_layers", 1, 1_024),
        heads=fields.whole("num_attention_heads", 1, 1_024),
        kv_heads=fields.whole("num_key_value_heads", 1, 1_024),
        head_dim=fields.whole("head_dim", 2, 1_024),
        ffn_size=fields.whole("intermediate_size", 1, 1_048_576),
        vocab_size=fields.whole("vocab_size", VOCABULARY, VOCABULARY),
        rms_norm_eps=fields.real("rms_norm_eps", 0, 1),
        rope_theta=fields.real("rope_theta", 1, 1e12),
        max_positions=fields.whole("max_position_embeddings", 16, 1_048_576),
        latent_dim=fields.whole("latent_dim", 1, 4_096),
        max_latent_frames=fields.whole("max_latent_frames", 3, 1_048_576),
        timestep_shift=fields.real("timestep_shift", 0, 1_000),
    )
    _check_divisible(fields, config)
    return config


def _check_divisible(fields: Fields, config: ModelConfig) -> None:
    if config.heads % config.kv_heads:
        raise fields.wrong("num_key_value_heads", f"a divisor of num_attention_heads, {config.heads}")
    if config.head_dim % 2:  # rotary positions turn pairs
        raise fields.wrong("head_dim", "even")
    if config.hidden_size % 2:  # the position table has pairs of sine and cosine
        raise fields.wrong("hidden_size", "even")


def read_vae_config(folder: Path) -> VaeConfig:
    """Read `config.json` of the VAE; raises CheckpointError."""
    fields = Fields.read(folder, CONFIG_FILE)
    fields.fixed("model_type", "yue2_vae")
    fields.fixed("sample_rate", 48_000)
    fields.fixed("audio_channels", 2)
    encoder, decoder = fields.inner("encoder_config"), fields.inner("decoder_config")
    _check_architecture(encoder, decoder)
    strides = decoder.wholes("strides", 2, 64)
    mults = decoder.wholes("c_mults", 1, 1_024)
    if len(mults) != len(strides):
        raise decoder.wrong("c_mults", f"as long as strides, which has {len(strides)}")
    latent_dim = fields.whole("latent_dim", 1, 4_096)
    ratio = math.prod(strides)
    decoder.fixed("latent_dim", latent_dim)
    encoder.fixed("latent_dim", 2 * latent_dim)
    fields.fixed("downsampling_ratio", ratio)
    return VaeConfig(
        channels=decoder.whole("channels", 1, 4_096),
        c_mults=mults,
        strides=strides,
        latent_dim=latent_dim,
        encoder_latent_dim=2 * latent_dim,
        sample_rate_hz=48_000,
        downsampling_ratio=ratio,
        audio_channels=2,
        core_frames=fields.whole("decode_core_frames", 1, 1_048_576),
        halo_frames=fields.whole("decode_halo_frames", EXACT_HALO_FRAMES, 1_048_576),
        release_variant=fields.text("release_variant"),
    )


def _check_architecture(encoder: Fields, decoder: Fields) -> None:
    """Refuse variants of the architecture that the release does not use, and halves that do not mirror each other."""
    for fields in (encoder, decoder):
        fields.fixed("use_snake", True)
    decoder.fixed("snake_type", "vanilla")
    decoder.fixed("use_filter", False)
    decoder.fixed("final_tanh", False)
    decoder.fixed("out_channels", 2)
    encoder.fixed("in_channels", 2)
    for name in ("channels", "c_mults", "strides"):
        encoder.fixed(name, decoder.values.get(name))


def read_context(folder: Path) -> int:
    """The context in tokens, as `yue2_generation_config.json` has it.

    Whatever else it says must be what requests have as their defaults: those are the release's, and every document
    tells them. Raises CheckpointError.
    """
    fields = Fields.read(folder, GENERATION_FILE)
    fields.fixed("ode_method", "midpoint")
    fields.fixed("version", "yue2-native-v1")
    _check_usual(fields, "ode_steps", SongRequest.model_fields["steps"].default)
    for stage, usual in (("abc", AbcSampling()), ("semantic", SemanticSampling())):
        _check_sampling(fields.inner(stage), usual)
    return fields.whole("context", 16, CONTEXT_TOKENS)


def _check_sampling(fields: Fields, usual: Sampling) -> None:
    defaults: dict[str, float] = usual.model_dump()
    for name, value in defaults.items():
        _check_usual(fields, name, value)
    for name in sorted(fields.values.keys() - defaults.keys()):
        raise fields.wrong(name, "left out")


def _check_usual(fields: Fields, name: str, usual: float) -> None:
    value = fields.values.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or value != usual:
        raise fields.wrong(name, f"{usual}, the default of requests")
