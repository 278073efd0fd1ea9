"""NVIDIA cards as the driver's own tool sees them, which is independent of how torch was built."""

import shutil
import subprocess
from dataclasses import dataclass

_TOOL = "nvidia-smi"
_QUERY = ("--query-gpu=name,memory.total,driver_version", "--format=csv,noheader,nounits")
_PATIENCE_SECONDS = 20.0  # a driver that is not kept loaded takes some to come up
MIB = 2**20


@dataclass(frozen=True, slots=True)
class Card:
    """One card."""

    name: str
    memory_bytes: int
    driver: str


@dataclass(frozen=True, slots=True)
class Driver:
    """What `nvidia-smi` says: the cards, or why there are none; `present` tells whether there is such a tool at all."""

    present: bool
    cards: tuple[Card, ...] = ()
    fault: str = ""


def ask_driver() -> Driver:
    """Run `nvidia-smi`; never raises."""
    tool = shutil.which(_TOOL)
    if tool is None:
        return Driver(present=False)
    try:
        ended = subprocess.run(
            [tool, *_QUERY], capture_output=True, text=True, timeout=_PATIENCE_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Driver(present=True, fault=f"{_TOOL} cannot be run ({type(error).__name__})")
    if ended.returncode:
        return Driver(present=True, fault=_first_line(ended.stdout or ended.stderr))
    cards = tuple(card for line in ended.stdout.splitlines() if (card := _card(line)) is not None)
    return Driver(present=True, cards=cards, fault="" if cards else f"{_TOOL} lists no card")


def _card(line: str) -> Card | None:
    """One line of the tool's answer: `NVIDIA GeForce RTX 4090, 24564, 550.54.14`."""
    cells = [cell.strip() for cell in line.rsplit(",", 2)]
    if len(cells) != 3:
        return None
    name, memory, driver = cells
    return Card(name, int(memory) * MIB if memory.isdigit() else 0, driver)


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), f"{_TOOL} fails")
