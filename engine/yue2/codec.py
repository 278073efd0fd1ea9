"""The VAE as the model uses it: latents to sound and back, with their bounds and their progress."""

import numpy as np

from engine.audio import Samples
from engine.control import Control
from engine.errors import InvalidRequest
from engine.request import CONTEXT_TOKENS
from engine.song_model import Latents
from engine.yue2.machine.memory import Allowance
from engine.yue2.parts import Parts
from engine.yue2.stages import ANALYSING, DECODING
from engine.yue2.vae.levels import normalised

LONGEST_FRAMES = CONTEXT_TOKENS  # as many as a request may have codes
UNTOUCHED_FORMAT = "wav32"  # holds what is over full scale, so nothing has to be done about it


class Codec:
    """Decodes and encodes; owns nothing but the way to the loaded parts."""

    def __init__(self, parts: Parts, channels: int) -> None:
        """`channels` is the width C of latents."""
        self._parts = parts
        self._channels = channels

    def check(self, latents: Latents) -> None:
        """Raise InvalidRequest('latents') unless they are (T, C), finite, and 1 to 24,576 rows."""
        if latents.ndim != 2 or latents.shape[1] != self._channels:
            raise InvalidRequest(
                "latents",
                f"latents must have {self._channels} numbers a row; you sent an array of shape {latents.shape}.",
            )
        if not 1 <= len(latents) <= LONGEST_FRAMES:
            raise InvalidRequest(
                "latents",
                f"latents must have 1 to {LONGEST_FRAMES} rows, 25 a second; you sent {len(latents)}.",
            )
        if not np.isfinite(latents).all():
            raise InvalidRequest("latents", "latents must be finite numbers; send them as you received them.")

    def decode(self, latents: Latents, allowed: Allowance, control: Control) -> Samples:
        """Samples (1920 T - 64, 2) at 48 kHz, not clipped."""
        vae = self._parts.vae(control, allowed)
        control.report(DECODING, 0.0)

        def tell(done: int, of: int) -> None:
            control.report(DECODING, done / of, tiles=done, of=of)

        return vae.decode(latents, control.check_cancelled, tell, allowed.core_frames)

    def encode(self, samples: Samples, allowed: Allowance, control: Control) -> Latents:
        """Latents (T, C) of stereo samples (N, 2) at 48 kHz; raises InvalidRequest('audio')."""

        def tell(done: int, of: int) -> None:
            control.report(ANALYSING, done / of, tiles=done, of=of)

        vae = self._parts.encoder(control, allowed)
        control.report(ANALYSING, 0.0)
        return vae.encode(samples, control.check_cancelled, tell, allowed.core_frames)

    def finished(self, samples: Samples, output_format: str, peak_clip: int, control: Control) -> Samples:
        """Decoded samples at the level that a song has, changed in place; as they are for 32-bit WAV."""
        if output_format == UNTOUCHED_FORMAT:
            return samples
        return normalised(samples, peak_clip, control.check_cancelled, in_place=True)
