"""The engine's own parts on random checkpoints, each behind the one call that is measured."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import torch

from bench.engine.options import Options
from engine.control import unchecked
from engine.sampling_request import Sampling
from engine.yue2.decoding.graphs import Graphs
from engine.yue2.decoding.lockstep import decode
from engine.yue2.decoding.takes import SongPrompt
from engine.yue2.files.checkpoint import Checkpoint
from engine.yue2.files.config import ModelConfig, VaeConfig, read_model_config, read_vae_config
from engine.yue2.files.tensors import model_tensors, vae_tensors
from engine.yue2.machine.device import choose_device, pin_numerics
from engine.yue2.network.acoustic import Acoustic
from engine.yue2.network.backbone import Decoder
from engine.yue2.network.kv_cache import KvCache
from engine.yue2.network.precision import Precision, choose
from engine.yue2.network.rotary import Rotary
from engine.yue2.network.weights import load_acoustic, load_decoder
from engine.yue2.vae.autoencoder import Vae
from engine.yue2.vocabulary import TokenRows

SPARE_POSITIONS = 64


@dataclass(frozen=True, slots=True)
class Backbone:
    """Both halves over one cache of one slot; owner of that cache."""

    config: ModelConfig
    device: torch.device
    precision: Precision
    checkpoint: Checkpoint
    cache: KvCache
    decoder: Decoder
    acoustic: Acoustic
    graphs: Graphs | None

    def plain_weights(self, names: Iterable[str]) -> dict[str, torch.Tensor]:
        """Tensors in the file's own dtype on the device, for the naive loops."""
        return {name: self.checkpoint.tensor(name).clone().to(self.device) for name in names}

    def fill_cache(self, positions: int) -> None:
        """Any keys and values at the first positions."""
        for kept in (self.cache.keys, self.cache.values):
            kept[:, 0, :, :positions].normal_()

    def prefill(self, tokens: Sequence[int]) -> None:
        """Read tokens from the start."""
        self.decoder.prefill(tokens, 0, 0, unchecked)

    def velocity(self, state: torch.Tensor, length: int) -> None:
        """One evaluation of a state (1, T, 64) behind so many positions."""
        self.acoustic.velocity(state, 0.0, 0, length, unchecked)

    def decode(
        self, prefix: Sequence[int], rows: TokenRows, sampling: Sampling, progress: Callable[[int], None]
    ) -> None:
        """One song from its prefix until the sampling's tokens are drawn."""
        song = SongPrompt(tuple(prefix), (), (), 7)
        decode(self.decoder, [song], rows, sampling, check=unchecked, progress=progress, graphs=self.graphs)


@contextmanager
def open_backbone(folder: Path, options: Options) -> Iterator[Backbone]:
    """Both halves, loaded, with room for all that the options ask for."""
    config, device = read_model_config(folder), choose_device(options.device)
    pin_numerics()
    precision = choose(device, options.precision)
    drawn = options.rounds * (options.steps + 1) + SPARE_POSITIONS
    room = max(options.context + max(drawn, options.frames + SPARE_POSITIONS), *options.prefills)
    with Checkpoint(folder, model_tensors(config)) as checkpoint:
        cache = KvCache(config, device, precision.cache, 1, room)
        rotary = Rotary(config, device, precision.residual)
        decoder = Decoder(
            load_decoder(checkpoint, config, device, precision, unchecked), config, cache, rotary
        )
        acoustic = Acoustic(
            load_acoustic(checkpoint, config, device, precision, unchecked), config, cache, rotary
        )
        graphs = Graphs(decoder) if options.on_cuda else None
        yield Backbone(config, device, precision, checkpoint, cache, decoder, acoustic, graphs)


@dataclass(frozen=True, slots=True)
class Codec:
    """A VAE and where it works."""

    vae: Vae
    config: VaeConfig
    device: torch.device

    def decode(self, latents: torch.Tensor) -> None:
        """Decode latents (T, 64)."""
        self.vae.decode(latents)


@contextmanager
def open_codec(folder: Path, options: Options) -> Iterator[Codec]:
    """The codec with its decoder loaded."""
    config, device = read_vae_config(folder), choose_device(options.device)
    with Checkpoint(folder, vae_tensors(config)) as checkpoint:
        vae = Vae(checkpoint, config, device)
        vae.load_decoder()
        yield Codec(vae, config, device)
