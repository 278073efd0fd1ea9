"""How much memory each part and each stage takes, and how much is done at once where there is little of it.

All numbers are estimates in bytes for planning; the allocator has the last word.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch

from engine.control import unchecked
from engine.errors import DeviceError
from engine.yue2.files.checkpoint import DTYPES
from engine.yue2.files.config import ModelConfig, VaeConfig
from engine.yue2.files.tensors import TensorSpec, model_tensors
from engine.yue2.machine.device import Memory
from engine.yue2.network.precision import Precision
from engine.yue2.network.weights import load_acoustic, load_decoder
from engine.yue2.vae.parts import part_bytes, working_bytes
from engine.yue2.vae.reach import decoder_reach

RESIDENCIES = ("auto", "keep", "stage")
"""What can be asked for: keep every part loaded, load only the part at work, or what memory allows."""

SONGS_AT_MOST, BRANCHES, VARIATIONS_AT_MOST = 8, 2, 9
_USUAL_FRAMES = 9000  # 360 s, the protocol's longest song
_TILE_OVERHEAD = 1.5  # convolutions' own workspaces, which nobody counts
_CORE_FRAMES = (1024, 512, 256, 128, 64)
_SMALL_DEVICE_BYTES = 12 * 2**30  # the reference halves its VAE tiles up to here
_MARGIN = 0.92  # of the free memory: contexts, kernels' workspaces and fragments take the rest


@dataclass(frozen=True, slots=True)
class Footprint:
    """Bytes of the weights of each part, and of what grows with the work.

    The VAE has its decoder's and its encoder's weights. `position_bytes`: keys and values of one position of one
    sequence; `row_bytes`: working memory of one acoustic row; `halo_frames`: frames that a tile of the VAE has beside
    its core; `frame_bytes` and `slice_bytes`: working memory of one frame of a tile, and of the slice of a layer that
    is computed at once.
    """

    decoder_bytes: int
    acoustic_bytes: int
    vae_decoder_bytes: int
    vae_encoder_bytes: int
    position_bytes: int
    row_bytes: int
    halo_frames: int
    frame_bytes: int
    slice_bytes: int

    @property
    def vae_bytes(self) -> int:
        """Both parts of the VAE."""
        return self.vae_decoder_bytes + self.vae_encoder_bytes

    @property
    def weights_bytes(self) -> int:
        """All parts together."""
        return self.decoder_bytes + self.acoustic_bytes + self.vae_bytes

    @property
    def song_bytes(self) -> int:
        """Working memory of the acoustic stage for one variation of the longest usual song."""
        return self.row_bytes * (_USUAL_FRAMES + 2)

    def tile_bytes(self, core_frames: int) -> int:
        """Working memory of the VAE for a tile of that size."""
        return self.frame_bytes * (core_frames + self.halo_frames) + self.slice_bytes


def footprint(model: ModelConfig, vae: VaeConfig, precision: Precision, slice_elements: int) -> Footprint:
    """The footprint of checkpoints of these shapes in this precision; the VAE computes in float32 always.

    The halves' bytes are those of weights that the loaders make without values. `slice_elements` is how much of a
    layer the VAE computes at once.
    """
    nowhere, shapes = torch.device("meta"), _Shapes(model_tensors(model))
    residual, acoustic = precision.residual.itemsize, precision.acoustic.itemsize
    widths = 2 * model.q_width + 4 * model.kv_width + 3 * model.ffn_size
    return Footprint(
        decoder_bytes=load_decoder(shapes, model, nowhere, precision, unchecked).bytes,
        acoustic_bytes=load_acoustic(shapes, model, nowhere, precision, unchecked).bytes,
        vae_decoder_bytes=part_bytes(vae, "decoder"),
        vae_encoder_bytes=part_bytes(vae, "encoder"),
        position_bytes=2 * model.layers * model.kv_width * precision.cache.itemsize,
        row_bytes=4 * model.hidden_size * residual + widths * acoustic,
        halo_frames=2 * decoder_reach(vae.strides),
        frame_bytes=int(_TILE_OVERHEAD * (working_bytes(vae, 1, 0))),
        slice_bytes=working_bytes(vae, 0, slice_elements),
    )


@dataclass(frozen=True, slots=True)
class _Shapes:
    """Stands for a checkpoint: its tensors without their values, which take no memory."""

    specs: Mapping[str, TensorSpec]

    def tensor(self, name: str) -> torch.Tensor:
        """A tensor of that name's shape and dtype, which is nowhere."""
        spec = self.specs[name]
        return torch.empty(spec.shape, dtype=DTYPES[spec.dtype], device="meta")


@dataclass(frozen=True, slots=True)
class Allowance:
    """What may be done at once.

    `staged`: only the part at work stays loaded. `sequences` of `positions` each fit into the cache: a song takes one,
    a guided song two while its codes are drawn; no more than `songs` are drawn in step. `variations` are solved
    together; `core_frames` is the size of the VAE's tiles without their margins.
    """

    staged: bool
    sequences: int
    positions: int
    variations: int
    core_frames: int
    songs: int = SONGS_AT_MOST

    def songs_at_once(self, branches: int) -> int:
        """How many songs are drawn in step where each has so many sequences, `BRANCHES` where it is guided."""
        return max(1, min(self.songs, self.sequences // branches))

    def reduced(self, positions: int) -> "Allowance":
        """The least that still makes a song of so many positions; one song and one variation at a time."""
        return Allowance(True, 1, min(positions, self.positions), 1, max(16, self.core_frames // 8), 1)


def allowance(
    sizes: Footprint,
    positions: int,
    core_frames: int,
    memory: Memory,
    wish: str,
    *,
    variations: int = VARIATIONS_AT_MOST,
    songs: int = SONGS_AT_MOST,
) -> Allowance:
    """What to do at once on a device with that memory.

    `positions` is the longest sequence, `core_frames` the largest tile of the VAE, `variations` the most to solve
    together, `songs` the most to draw in step. With `auto` all parts stay loaded where they fit beside a guided song and its work. Raises DeviceError
    for a wish that is none of `RESIDENCIES`.
    """
    if wish not in RESIDENCIES:
        raise DeviceError(f"There is no residency {wish!r}; set it to one of: {', '.join(RESIDENCIES)}.")
    usable = int(memory.free_bytes * _MARGIN)
    core = _core_frames(sizes, core_frames, memory)
    sequence = sizes.position_bytes * positions
    work = max(sizes.song_bytes, sizes.tile_bytes(core))
    fits = usable >= sizes.weights_bytes + BRANCHES * sequence + work
    staged = wish == "stage" or (wish == "auto" and not fits)
    resident = max(sizes.decoder_bytes, sizes.acoustic_bytes) if staged else sizes.weights_bytes
    half = max(0, usable - resident - BRANCHES * sequence - work) // 2  # of what is left beyond the least
    sequences = min(BRANCHES + half // sequence, songs * BRANCHES)
    together = min(1 + half // sizes.song_bytes, variations)
    return Allowance(staged, sequences, positions, together, core, songs)


def _core_frames(sizes: Footprint, most: int, memory: Memory) -> int:
    """From all of the memory, not from what is free: another size changes last bits, so it must not vary."""
    if memory.total_bytes <= _SMALL_DEVICE_BYTES:
        most = min(most, _CORE_FRAMES[1])
    room = (memory.total_bytes - sizes.vae_bytes) // 2
    fitting = (core for core in _CORE_FRAMES if core <= most and sizes.tile_bytes(core) <= room)
    return next(fitting, min(most, _CORE_FRAMES[-1]))
