"""How the installed torch was built and which devices it can compute on."""

import sys
import warnings
from dataclasses import dataclass
from importlib.util import find_spec

from engine.errors import MissingExtra

REINSTALL = f"{sys.executable} -m pip install --force-reinstall --index-url https://pypi.org/simple"


@dataclass(frozen=True, slots=True)
class TorchBuild:
    """The installed torch. `cuda` is the CUDA it was built for, empty for a build without; `devices` its cards."""

    version: str
    cuda: str
    devices: tuple[str, ...]
    warning: str = ""  # what it said while it looked for cards
    threads: int = 0  # that it computes with on a processor

    @property
    def release(self) -> str:
        """The version without the mark of the build: 2.13.0 of 2.13.0+cpu."""
        return self.version.partition("+")[0]


def torch_build() -> TorchBuild | str:
    """The installed torch, or a sentence that says why there is none to use."""
    if find_spec("torch") is None:
        return str(MissingExtra("torch"))
    try:
        import torch
    except (ImportError, OSError) as error:
        return f"torch is installed but cannot be loaded ({error}); install it again: {REINSTALL} torch"
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    names = tuple(torch.cuda.get_device_name(index) for index in range(count))
    first = next((str(one.message).split("\n")[0] for one in said), "")
    return TorchBuild(torch.__version__, torch.version.cuda or "", names, first, torch.get_num_threads())


def blindness(build: TorchBuild, cards: int, visible: str | None) -> str:
    """Why torch sees no card though the driver has some, and the command that mends it; empty where it sees one.

    `visible` is CUDA_VISIBLE_DEVICES.
    """
    if build.devices or not cards:
        return ""
    if visible is not None and visible.strip() in ("", "-1", "none", "NoDevFiles"):
        return ""  # somebody wants it so
    if not build.cuda:
        return (
            f"nvidia-smi works, but the installed torch ({build.version}) is built without CUDA and computes on the "
            f"processor. Install the build for the card: {REINSTALL} torch=={build.release}"
        )
    why = f" It says: {build.warning}" if build.warning else ""
    return (
        f"nvidia-smi works, but torch {build.version} (for CUDA {build.cuda}) finds no card.{why} Most often the driver "
        "is older than that CUDA wants (update it), or the process may not use the card (a container needs --gpus all)."
    )
