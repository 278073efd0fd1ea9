"""What a result depends on besides the code: the machine, how busy it is, and what is installed."""

import os
import platform
from dataclasses import dataclass
from importlib.metadata import distributions

HEAVY_LOAD_A_CORE = 0.5


@dataclass(frozen=True, slots=True)
class Load:
    """Processes that ran or wanted to, on average over the last minute, on so many cores."""

    average: float
    cores: int

    @classmethod
    def now(cls) -> "Load":
        """The machine's load."""
        return cls(os.getloadavg()[0], os.cpu_count() or 1)

    @property
    def is_heavy(self) -> bool:
        """Whether it is so much that a measurement may suffer from it."""
        return self.average > HEAVY_LOAD_A_CORE * self.cores

    def __str__(self) -> str:
        return f"load {self.average:.2f} on {self.cores} core{'' if self.cores == 1 else 's'}"


def describe_machine() -> dict[str, str | int]:
    """Architecture, system, cores, memory in bytes, and Python's version."""
    return {
        "architecture": platform.machine(),
        "processor": platform.processor(),
        "system": platform.platform(),
        "cores": os.cpu_count() or 1,
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "python": platform.python_version(),
    }


def package_versions() -> dict[str, str]:
    """The version of every installed distribution, by name."""
    return dict(sorted((found.name, found.version) for found in distributions()))
