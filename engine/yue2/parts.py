"""The loaded model: its halves, the VAE, and the cache that both halves share."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from math import prod
from pathlib import Path

import torch

from engine.control import Check, Control
from engine.yue2.decoding.graphs import Graphs
from engine.yue2.files.checkpoint import Checkpoint
from engine.yue2.files.config import ModelConfig, VaeConfig
from engine.yue2.files.digests import Verification
from engine.yue2.files.tensors import TensorSpec, acoustic_names, decoder_names, model_tensors, vae_tensors
from engine.yue2.machine.device import give_back, settle, turn_to
from engine.yue2.machine.memory import Allowance
from engine.yue2.machine.residency import Residency
from engine.yue2.network.acoustic import Acoustic
from engine.yue2.network.backbone import Decoder
from engine.yue2.network.kv_cache import KvCache
from engine.yue2.network.precision import Precision
from engine.yue2.network.rotary import Rotary
from engine.yue2.network.weights import load_acoustic, load_decoder, slice_rows
from engine.yue2.stages import ACOUSTIC_PART, DECODER_PART, ENCODER_PART, LOADING, VAE_PART
from engine.yue2.vae.autoencoder import Vae

_VERIFIED = 0.5  # share of loading that is over once the digests are verified


@dataclass(frozen=True, slots=True)
class Source:
    """Where a model is read from, and what it is to become; `digest_file` remembers which files were verified."""

    model_folder: Path
    vae_folder: Path
    digest_file: Path
    model: ModelConfig
    vae: VaeConfig
    device: torch.device
    precision: Precision


@dataclass(frozen=True, slots=True)
class LoadedDecoder:
    """The decoder, and on CUDA the graphs of its steps, which live as long as it does."""

    decoder: Decoder
    graphs: Graphs | None


class Parts:
    """Owner of the cache and, through its residency, of the loaded halves and the VAE's.

    Weights are verified against their digests and loaded when a part is first asked for, in phase `loading`. Used by
    the working thread only, but for `loaded`. Loading raises CheckpointError, NumericalError and OutOfMemory.
    """

    def __init__(self, source: Source, positions: int) -> None:
        """Loads nothing; `positions` is the length of the cache's sequences."""
        self._source = source
        self._verification = Verification(source.digest_file)
        self._cache = self._new_cache(positions)
        self._residency: Residency[LoadedDecoder, Acoustic, Vae] = Residency(
            self._load_decoder,
            self._load_acoustic,
            self._load_vae,
            self._load_encoder,
            settle=partial(settle, source.device),
            give_back=partial(give_back, source.device),
        )

    @property
    def loaded(self) -> frozenset[str]:
        """The parts that are loaded; from any thread, and soon out of date there."""
        names = (DECODER_PART, ACOUSTIC_PART, VAE_PART, ENCODER_PART)
        return frozenset(
            name for name, loaded in zip(names, self._residency.is_loaded, strict=True) if loaded
        )

    def decoder(self, control: Control, allowed: Allowance, slots: int) -> LoadedDecoder:
        """The decoder, with room for so many sequences; what they held may be lost."""
        if self._cache.capacity != allowed.positions:
            self.release()
            self._cache = self._new_cache(allowed.positions)
        loaded = self._residency.decoder(control, alone=allowed.staged)
        self._cache.reserve(slots)
        return loaded

    def acoustic(self, control: Control, allowed: Allowance) -> Acoustic:
        """The acoustic half; it reads what the decoder has left in the cache."""
        return self._residency.acoustic(control, alone=allowed.staged)

    def vae(self, control: Control, allowed: Allowance) -> Vae:
        """The VAE with its decoder loaded."""
        if allowed.staged:
            self._cache.release()
        return self._residency.vae(control, alone=allowed.staged)

    def encoder(self, control: Control, allowed: Allowance) -> Vae:
        """The VAE with its encoder loaded."""
        if allowed.staged:
            self._cache.release()
        return self._residency.encoder(control, alone=allowed.staged)

    def release(self) -> None:
        """Give all memory back; the next that asks loads again."""
        self._cache.release()
        self._residency.release()

    def _new_cache(self, positions: int) -> KvCache:
        source = self._source
        return KvCache(source.model, source.device, source.precision.cache, 0, positions)

    def _load_decoder(self, control: Control) -> LoadedDecoder:
        source = self._source
        with self._model_checkpoint(control) as checkpoint:
            check = self._loading(control, decoder_names(source.model))
            weights = load_decoder(checkpoint, source.model, source.device, source.precision, check)
        decoder = Decoder(weights, source.model, self._cache, self._rotary())
        return LoadedDecoder(decoder, Graphs(decoder) if source.device.type == "cuda" else None)

    def _load_acoustic(self, control: Control) -> Acoustic:
        source = self._source
        with self._model_checkpoint(control) as checkpoint:
            check = self._loading(control, acoustic_names(source.model))
            weights = load_acoustic(checkpoint, source.model, source.device, source.precision, check)
        return Acoustic(weights, source.model, self._cache, self._rotary())

    def _load_vae(self, control: Control) -> Vae:
        tensors = vae_tensors(self._source.vae)
        with self._verified(self._source.vae_folder, tensors, control) as checkpoint:
            vae = Vae(checkpoint, self._source.vae, self._source.device)
            vae.load_decoder(_Loading(control, sum(not _is_encoder(name) for name in tensors)))
        return vae

    def _load_encoder(self, control: Control) -> Vae:
        tensors = vae_tensors(self._source.vae)
        with self._verified(self._source.vae_folder, tensors, control) as checkpoint:
            vae = Vae(checkpoint, self._source.vae, self._source.device)
            vae.load_encoder(_Loading(control, sum(map(_is_encoder, tensors))))
        return vae

    def _rotary(self) -> Rotary:
        return Rotary(self._source.model, self._source.device, self._source.precision.residual)

    def _model_checkpoint(self, control: Control) -> Checkpoint:
        return self._verified(self._source.model_folder, model_tensors(self._source.model), control)

    def _verified(self, folder: Path, tensors: Mapping[str, TensorSpec], control: Control) -> Checkpoint:
        """A checkpoint of weights that are known to be right; what loads it works on the device from here on."""
        control.report(LOADING, 0.0)
        turn_to(self._source.device)
        self._verification.verify(folder, control.check_cancelled, partial(_verifying, control))
        return Checkpoint(folder, tensors)

    def _loading(self, control: Control, names: Iterable[str]) -> Check:
        tensors = model_tensors(self._source.model)
        return _Loading(control, sum(_slices(tensors[name].shape) for name in names))


class _Loading:
    """A check for a loader that also reports how far it is, by how often it is called of so many times."""

    def __init__(self, control: Control, calls: int) -> None:
        self._control = control
        self._calls = calls
        self._called = 0

    def __call__(self) -> None:
        """Raise the control's own error where the work is to stop."""
        self._control.check_cancelled()
        done = min(1.0, self._called / self._calls)
        self._control.report(LOADING, _VERIFIED + (1 - _VERIFIED) * done)
        self._called += 1


def _verifying(control: Control, fraction: float) -> None:
    control.report(LOADING, _VERIFIED * fraction)


def _is_encoder(name: str) -> bool:
    return name.startswith("encoder.")


def _slices(shape: tuple[int, ...]) -> int:
    """How many slices the loader cuts a tensor into."""
    return -(-shape[0] // slice_rows(prod(shape[1:])))
