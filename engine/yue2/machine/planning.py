"""What the checkpoints in two folders would take on a device, from their headers and configurations alone."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path

import torch

from engine.errors import CheckpointError, DeviceError
from engine.yue2.files.checkpoint import check_folder
from engine.yue2.files.config import read_context, read_model_config, read_vae_config
from engine.yue2.files.digests import check_manifest
from engine.yue2.files.faults import unusable
from engine.yue2.files.tensors import model_tensors, vae_tensors
from engine.yue2.machine.capacity import capacity_of
from engine.yue2.machine.device import choose_device, device_name, memory_of
from engine.yue2.machine.outlook import MODEL_SETTING, FolderState, Plan, Wishes
from engine.yue2.network.precision import Precision, choose
from engine.yue2.text.tokenizer import RANKS_BYTES, RANKS_FILE


def folder_states(folders: Iterable[FolderState]) -> tuple[FolderState, ...]:
    """The same folders, looked into."""
    return tuple(_looked_into(state) for state in folders)


def _looked_into(state: FolderState) -> FolderState:
    measure: Callable[[Path], int] = _model_bytes if state.setting == MODEL_SETTING else _vae_bytes
    try:
        return replace(state, size_bytes=measure(state.path))
    except CheckpointError as error:
        return replace(state, fault=str(error))


def _model_bytes(folder: Path) -> int:
    read_context(folder)
    _check_ranks(folder)
    check_manifest(folder)
    return check_folder(folder, model_tensors(read_model_config(folder)))


def _check_ranks(folder: Path) -> None:
    """Look for the tokenizer's file; its content is checked when it is loaded."""
    ranks = folder / RANKS_FILE
    if not ranks.is_file() or ranks.stat().st_size != RANKS_BYTES:
        raise unusable(folder, f"{RANKS_FILE} is missing or is not the released one")


def _vae_bytes(folder: Path) -> int:
    check_manifest(folder)
    return check_folder(folder, vae_tensors(read_vae_config(folder)))


def plan_for(model_folder: Path, vae_folder: Path, wishes: Wishes) -> Plan:
    """What would be done. Raises DeviceError, CheckpointError."""
    model, vae = read_model_config(model_folder), read_vae_config(vae_folder)
    device = choose_device(wishes.device)
    precision = choose(device, wishes.precision)
    _try(device, precision)
    capacity = capacity_of(model_folder, model, vae, device, precision, wishes.residency)
    sizes, allowed, memory = capacity.sizes, capacity.allowed, capacity.memory
    ram = memory_of(torch.device("cpu"))
    return Plan(
        wishes=wishes,
        device=str(device),
        name=device_name(device),
        precision=precision.name,
        formats=_formats(precision),
        staged=allowed.staged,
        decoder_bytes=sizes.decoder_bytes,
        acoustic_bytes=sizes.acoustic_bytes,
        vae_bytes=sizes.vae_bytes,
        positions=allowed.positions,
        cache_bytes=sizes.position_bytes * allowed.positions,
        song_bytes=sizes.song_bytes,
        tile_bytes=sizes.tile_bytes(allowed.core_frames),
        total_bytes=memory.total_bytes,
        free_bytes=memory.free_bytes,
        ram_total_bytes=ram.total_bytes,
        ram_free_bytes=ram.free_bytes,
    )


def _formats(precision: Precision) -> Mapping[str, str]:
    names = ("decoder", "acoustic", "cache", "residual")
    return {name: str(getattr(precision, name)).removeprefix("torch.") for name in names}


def _try(device: torch.device, precision: Precision) -> None:
    """Multiply a little on the device; a build without kernels for the card fails here and not in a song."""
    try:
        square = torch.ones((8, 8), device=device, dtype=precision.decoder)
        total = float((square @ square).float().sum())
    except RuntimeError as error:
        first = str(error).split("\n")[0]
        raise DeviceError(
            f"torch {torch.__version__} cannot compute on {device}: {first}. Install a build for this card, or set YUE2_DEVICE=cpu."
        ) from error
    if total != 512:
        raise DeviceError(
            f"{device} calculates wrongly (8 x 8 x 8 ones gave {total:g}); set YUE2_DEVICE to another device."
        )
