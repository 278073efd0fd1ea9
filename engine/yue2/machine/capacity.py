"""How much a device may do at once with two checkpoints, and what that takes of its memory."""

from dataclasses import dataclass
from pathlib import Path

import torch

from engine.yue2.files.config import ModelConfig, VaeConfig, read_context
from engine.yue2.machine.device import Memory, memory_of
from engine.yue2.machine.memory import (
    SONGS_AT_MOST,
    VARIATIONS_AT_MOST,
    Allowance,
    Footprint,
    allowance,
    footprint,
)
from engine.yue2.network.precision import Precision
from engine.yue2.vae.autoencoder import CPU_CORE_FRAMES, CPU_SLICE_ELEMENTS, DEVICE_SLICE_ELEMENTS


@dataclass(frozen=True, slots=True)
class Capacity:
    """Sizes of the parts, what may be done at once, and the memory that this was judged by."""

    sizes: Footprint
    allowed: Allowance
    memory: Memory


def capacity_of(
    folder: Path,
    model: ModelConfig,
    vae: VaeConfig,
    device: torch.device,
    precision: Precision,
    residency: str,
) -> Capacity:
    """The capacity for the model in `folder`. Raises CheckpointError, DeviceError.

    A processor gains nothing by drawing songs in step or by solving variations together, and one by one they are what
    their replays are; see docs/decisions/0031-one-song-at-a-time-on-a-processor.md.
    """
    on_processor = device.type == "cpu"
    sizes = footprint(model, vae, precision, CPU_SLICE_ELEMENTS if on_processor else DEVICE_SLICE_ELEMENTS)
    positions = min(model.max_positions, read_context(folder))
    core = min(vae.core_frames, CPU_CORE_FRAMES) if on_processor else vae.core_frames
    variations, songs = (1, 1) if on_processor else (VARIATIONS_AT_MOST, SONGS_AT_MOST)
    memory = memory_of(device)
    allowed = allowance(sizes, positions, core, memory, residency, variations=variations, songs=songs)
    return Capacity(sizes, allowed, memory)
