"""Every benchmark, one after another: `python -m bench [--full]`; 1 where a bar was missed in any.

Those of YuE2 need torch and are left out where it is missing. They run in processes of their own, always in the sizes
for which bars are set: at the real model's (`python -m bench.engine --full`) a processor would take hours.
"""

import subprocess
import sys
from importlib import import_module
from importlib.util import find_spec

BENCHMARKS = (
    "floors",
    "health",
    "download",
    "sketch",
    "speech",
    "clients",
    "agents",
    "transcription",
    "sound.__main__",
)
OF_YUE2 = ("engine", "engine.health")


def main() -> int:
    """Run them all; what is slow to import is imported when its turn comes."""
    statuses = [int(import_module(f"bench.{name}").main()) for name in BENCHMARKS]
    if find_spec("torch") is None:
        print("torch is not installed, so that YuE2 is not measured")
        return max(statuses)
    return max([*statuses, *map(in_a_process, OF_YUE2)])


def in_a_process(name: str) -> int:
    """The exit status of a benchmark in a process of its own."""
    return subprocess.run([sys.executable, "-m", f"bench.{name}"], check=False).returncode


if __name__ == "__main__":
    from bench.report import end

    end(main)
