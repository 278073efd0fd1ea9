"""Where tensors live: the device asked for, its memory, and how it is to calculate."""

import ctypes
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import torch

from engine.errors import DeviceError

_MEMINFO = Path("/proc/meminfo")
_CPUINFO = Path("/proc/cpuinfo")
_GROUP = Path("/sys/fs/cgroup")
_CHOICES = "choose auto, cpu, cuda or cuda:N"


@dataclass(frozen=True, slots=True)
class Memory:
    """Bytes of a device's memory: all of it, and what nobody uses at the moment."""

    total_bytes: int
    free_bytes: int


def choose_device(wish: str) -> torch.device:
    """The device of `auto`, `cpu`, `cuda` or `cuda:N`; auto is the first CUDA device where there is one.

    Raises DeviceError for another word and for a device that is not there.
    """
    word = wish.strip().lower()
    if word == "cpu" or (word == "auto" and not torch.cuda.is_available()):
        return torch.device("cpu")
    found = re.fullmatch(r"auto|cuda(?::([0-9]{1,3}))?", word)
    if found is None:
        raise DeviceError(f"There is no device {wish!r}; {_CHOICES}.")
    return _cuda_device(int(found[1] or 0))


def _cuda_device(index: int) -> torch.device:
    if not torch.cuda.is_available():
        reason = "finds no driver or no card" if torch.version.cuda else "is built without CUDA"
        raise DeviceError(f"No CUDA device can be used, since the installed torch {reason}; {_CHOICES}.")
    count = torch.cuda.device_count()
    if index >= count:
        raise DeviceError(f"There is no device cuda:{index}, only cuda:0 to cuda:{count - 1}; {_CHOICES}.")
    return torch.device("cuda", index)


def device_name(device: torch.device) -> str:
    """What a device is called and, of a processor, which instructions its kernels use: both decide low bits."""
    if device.type == "cuda":
        return torch.cuda.get_device_name(device)
    return f"{_processor()} ({torch.backends.cpu.get_cpu_capability()})"


def threads_of(device: torch.device) -> int:
    """How many threads share a sum on a processor; 0 on other devices, whose results do not hang on it."""
    return torch.get_num_threads() if device.type == "cpu" else 0


def memory_of(device: torch.device) -> Memory:
    """The memory of a CUDA device, or the machine's within the limit of the control group this process is in."""
    if device.type != "cuda":
        return _machine_memory(_MEMINFO, _GROUP)
    free, total = torch.cuda.mem_get_info(device)
    cached = torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return Memory(total, free + cached)


def turn_to(device: torch.device) -> None:
    """Have this thread's work that names no device, such as a library's handles and streams, done on this one."""
    if device.type == "cuda":
        torch.cuda.set_device(device)


def settle(device: torch.device) -> None:
    """Wait until the device has done all that it was given."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)


def give_back(device: torch.device) -> None:
    """Return what the device's allocator keeps for later to the system; hundreds of megabytes after a song."""
    if device.type == "cuda":
        torch.cuda.empty_cache()
        return
    # glibc keeps freed tensors of up to 32 MiB; other C libraries have no such function
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)


def pin_numerics() -> None:
    """Have this process calculate as the reference does: no TF32, no sums in half precision, no chosen-by-race kernels.

    These settings are the process's; the caller is to own it.
    """
    torch.set_float32_matmul_precision("highest")
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_fp16_accumulation = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.deterministic = True
    torch.backends.cudnn.benchmark = False
    # Its attention keeps a plan for each length that it meets, of which songs have many.
    torch.backends.cuda.enable_cudnn_sdp(False)


def _processor() -> str:
    lines = _CPUINFO.read_text(encoding="utf-8", errors="replace").splitlines() if _CPUINFO.exists() else []
    named = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(named, "cpu")


def _machine_memory(meminfo: Path, group: Path) -> Memory:
    if meminfo.exists():
        lines = (line.split() for line in meminfo.read_text(encoding="ascii").splitlines())
        sizes = {words[0]: int(words[1]) * 1024 for words in lines if len(words) > 1}
        machine = Memory(sizes["MemTotal:"], sizes["MemAvailable:"])
    else:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        machine = Memory(total, total // 2)
    limit, used = _number_in(group / "memory.max"), _number_in(group / "memory.current")
    if limit is None or used is None:
        return machine
    needed = used - _unused_pages(group / "memory.stat")
    return Memory(min(machine.total_bytes, limit), max(0, min(machine.free_bytes, limit - needed)))


def _unused_pages(path: Path) -> int:
    """Bytes of files that the group has in memory but nobody uses: the kernel drops them where room is wanted.

    Such as the weights once they were verified. Format: Linux, Control Group v2, memory.stat.
    """
    lines = path.read_text(encoding="ascii").splitlines() if path.exists() else []
    counts = (line.partition(" ")[2] for line in lines if line.startswith("inactive_file "))
    return next((int(count) for count in counts if count.isdigit()), 0)


def _number_in(path: Path) -> int | None:
    """The number a control file holds; None where there is no such file, or no limit ("max")."""
    text = path.read_text(encoding="ascii").strip() if path.exists() else ""
    return int(text) if text.isdigit() else None
