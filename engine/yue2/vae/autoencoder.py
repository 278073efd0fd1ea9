"""Latents to sound and back, tile by tile, always in float32."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import torch

from engine.audio import Samples
from engine.control import Check, unchecked
from engine.errors import InvalidRequest, NumericalError
from engine.song_model import Latents
from engine.yue2.files.checkpoint import Checkpoint
from engine.yue2.files.config import VaeConfig
from engine.yue2.vae.layers import Slices
from engine.yue2.vae.parts import VaePart, load_decoder_part, load_encoder_part
from engine.yue2.vae.reach import decoder_reach, encoder_reach
from engine.yue2.vae.windows import Tile, decoded_samples, encoded_frames, vae_tiles

Progress = Callable[[int, int], None]  # tiles done, tiles in all

CPU_CORE_FRAMES = 256  # ten seconds: progress is told often, and the halos cost a tenth
CPU_SLICE_ELEMENTS = 2**19  # 2 MiB, about a second-level cache
DEVICE_SLICE_ELEMENTS = 2**24  # 64 MiB: few launches
_CHECKED_SAMPLES = 2**20


def untold(done: int, of: int) -> None:
    """Progress that nobody hears of."""


class Vae:
    """Owner of the VAE's weights on a device; each half is loaded when it is first needed.

    Tiles overlap by exactly as much as the layers reach, so that their size changes nothing but rounding. An out-of-
    memory error of torch is passed on; smaller tiles may then do.
    """

    def __init__(self, checkpoint: Checkpoint, config: VaeConfig, device: torch.device) -> None:
        self._checkpoint = checkpoint
        self._config = config
        self._device = device
        self._decoder: VaePart | None = None
        self._encoder: VaePart | None = None

    @property
    def decoder_bytes(self) -> int:
        """Bytes of the decoder's weights on the device; 0 before they are loaded."""
        return self._decoder.size_bytes if self._decoder else 0

    @property
    def encoder_bytes(self) -> int:
        """Bytes of the encoder's weights on the device; 0 before they are loaded."""
        return self._encoder.size_bytes if self._encoder else 0

    @property
    def core_frames(self) -> int:
        """Frames of a tile unless the caller says otherwise."""
        told = self._config.core_frames
        return min(told, CPU_CORE_FRAMES) if self._device.type == "cpu" else told

    def load_decoder(self, check: Check = unchecked) -> VaePart:
        """Load the decoder unless it is there; `check` is called before each tensor. Raises CheckpointError."""
        if self._decoder is None:
            self._decoder = load_decoder_part(self._checkpoint, self._config, self._device, check)
        return self._decoder

    def load_encoder(self, check: Check = unchecked) -> VaePart:
        """Load the encoder unless it is there; `check` is called before each tensor. Raises CheckpointError."""
        if self._encoder is None:
            self._encoder = load_encoder_part(self._checkpoint, self._config, self._device, check)
        return self._encoder

    def unload(self) -> None:
        """Give the weights' memory back; the next use loads again."""
        self._decoder = self._encoder = None

    def decode(
        self,
        latents: Latents | torch.Tensor,
        check: Check = unchecked,
        progress: Progress = untold,
        core_frames: int | None = None,
    ) -> Samples:
        """Samples (1920 T - 64, 2) at 48 kHz of latents (T, 64), T at least 1; full scale is ±1, nothing is clipped.

        `check` is called between slices of layers and stops the work by raising; `progress` after each tile. Raises
        NumericalError for values that are not finite, and CheckpointError where the weights cannot be loaded.
        """
        decoder, strides = self.load_decoder(check), self._config.strides
        rows = latents if isinstance(latents, torch.Tensor) else torch.tensor(latents)
        out = np.empty((decoded_samples(len(rows), strides), self._config.audio_channels), np.float32)
        cut = vae_tiles(len(rows), core_frames or self.core_frames, decoder_reach(strides), strides)
        for done, tile in enumerate(cut, start=1):
            with _exactly():
                self._decode_tile(decoder, rows, tile, out, self._slices(check))
            progress(done, len(cut))
        return out

    def _decode_tile(
        self, decoder: VaePart, rows: torch.Tensor, tile: Tile, out: Samples, slices: Slices
    ) -> None:
        """Write a tile's samples into the whole sound `out` (1920 T - 64, 2)."""
        columns = rows[tile.left : tile.right].to(self._device, torch.float32).T  # (64, n)
        sound = decoder(columns, slices)[:, tile.skip : tile.skip + tile.count]
        _write(out[tile.at : tile.at + tile.count], sound, "decoded sound")

    def encode(
        self,
        samples: Samples,
        check: Check = unchecked,
        progress: Progress = untold,
        core_frames: int | None = None,
    ) -> Latents:
        """Latents (T, 64), the means, of stereo samples (N, 2) at 48 kHz; T = ((N // 64 + 1) // 5) // 6.

        `check` and `progress` as in `decode`. Raises InvalidRequest('audio') for less than one frame of 1920 samples
        and for samples that are not finite, NumericalError and CheckpointError as `decode` does.
        """
        ratio, strides = self._config.downsampling_ratio, self._config.strides
        _check_audio(samples, ratio, check)
        encoder, frames = self.load_encoder(check), encoded_frames(len(samples), strides)
        out = np.empty((frames, self._config.latent_dim), np.float32)
        core = core_frames or self.core_frames
        cut = vae_tiles(frames, core, encoder_reach(strides), strides)
        for done, tile in enumerate(cut, start=1):
            first, end = tile.at // ratio, len(samples) if tile.right == frames else tile.right * ratio
            with _exactly():
                columns = _columns(samples[tile.left * ratio : end]).to(self._device)  # (2, n)
                moments = encoder(columns, self._slices(check))  # (128, n // 1920)
                means = moments[: self._config.latent_dim, first - tile.left :][:, :core]
                _write(out[first : first + core], means, "encoded audio")
            progress(done, len(cut))
        return out

    def _slices(self, check: Check) -> Slices:
        return Slices(self._slice_elements, check)

    @property
    def _slice_elements(self) -> int:
        return CPU_SLICE_ELEMENTS if self._device.type == "cpu" else DEVICE_SLICE_ELEMENTS


@contextmanager
def _exactly() -> Iterator[None]:
    """No gradients, and no rounding of float32 to TF32, which cuDNN's convolutions do unless told otherwise."""
    exact = torch.backends.cudnn.flags(enabled=True, deterministic=True, allow_tf32=False)
    with torch.inference_mode(), exact:
        yield


def _check_audio(samples: Samples, least: int, check: Check) -> None:
    if len(samples) < least:
        raise InvalidRequest(
            "audio", f"The audio has {len(samples)} samples at 48 kHz; send at least {least}, 40 ms."
        )
    for start in range(0, len(samples), _CHECKED_SAMPLES):
        check()
        if not np.isfinite(samples[start : start + _CHECKED_SAMPLES]).all():
            raise InvalidRequest("audio", "The audio has samples that are not finite; export it again.")


def _columns(samples: Samples) -> torch.Tensor:
    """(2, N) from (N, 2), in memory of its own."""
    return torch.from_numpy(np.array(samples.T, dtype=np.float32, order="C"))


def _write(out: Samples | Latents, columns: torch.Tensor, what: str) -> None:
    """Fill (N, C) with finite (C, N)."""
    if not bool(torch.isfinite(columns).all()):
        raise NumericalError(
            f"The {what} has values that are not finite; try other seeds or the precision fp32, and if that does not"
            " help, fetch the model's files again."
        )
    torch.from_numpy(out).copy_(columns.T)
