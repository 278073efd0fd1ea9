"""What one may ask of a machine for the models of YuE2, and what it has to offer: no torch is needed to say it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

MODEL_SETTING, VAE_SETTING = "YUE2_MODEL", "YUE2_VAE"


@dataclass(frozen=True, slots=True)
class Wishes:
    """The settings that concern the models; the folders are None where they are not set."""

    model: Path | None
    vae: Path | None
    device: str = "auto"
    precision: str = "auto"
    residency: str = "auto"

    def folders(self) -> list[tuple[str, Path]]:
        """The folders that are set, each with its setting."""
        both = [(MODEL_SETTING, self.model), (VAE_SETTING, self.vae)]
        return [(setting, path) for setting, path in both if path is not None]


@dataclass(frozen=True, slots=True)
class FolderState:
    """A checkpoint's folder: the bytes of its tensors where it is complete, else what is wrong with it."""

    setting: str
    path: Path
    size_bytes: int = 0
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """What would compute, in which formats, and the memory it takes; sizes in bytes, by calculation.

    `wishes` are the settings that led here.
    `formats` are the weights' of decoder and acoustic half, the cache's and the residual stream's. `cache_bytes` is
    one sequence's of `positions`; a guided song has two. `song_bytes` is what the acoustic stage works with,
    `tile_bytes` what the VAE does.
    """

    wishes: Wishes
    device: str
    name: str
    precision: str
    formats: Mapping[str, str]
    staged: bool
    decoder_bytes: int
    acoustic_bytes: int
    vae_bytes: int
    positions: int
    cache_bytes: int
    song_bytes: int
    tile_bytes: int
    total_bytes: int
    free_bytes: int
    ram_total_bytes: int  # the machine's own, which is the device's where that is the processor
    ram_free_bytes: int

    @property
    def needed_bytes(self) -> int:
        """For one song of the longest usual length, without guidance; the most that is needed at a time."""
        if not self.staged:
            weights = self.decoder_bytes + self.acoustic_bytes + self.vae_bytes
            return weights + self.cache_bytes + max(self.song_bytes, self.tile_bytes)
        drawing = self.decoder_bytes + self.cache_bytes
        solving = self.acoustic_bytes + self.cache_bytes + self.song_bytes
        return max(drawing, solving, self.vae_bytes + self.tile_bytes)
