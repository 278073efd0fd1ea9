"""What can be chosen about the models that speak, sing and listen."""

import os
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class SoundOptions:
    """Where further files lie, and how much of the machine the models may use.

    `whisper_folder` holds a CTranslate2 Whisper model that is used in place of the packaged one; `voices_folder` may
    hold voices of Kokoro and need not exist. `threads` is how many cores transcription and those voices use at once; 0
    leaves one free. The built-in voice speaks and sings on one.
    """

    whisper_folder: Path | None = None
    voices_folder: Path | None = None
    device: str = "auto"  # auto, cpu, cuda or cuda:N
    threads: int = 0

    @property
    def worker_threads(self) -> int:
        """`threads`, or all cores but one where that is 0, at least one."""
        return self.threads or max(1, cores() - 1)


def cores() -> int:
    """The cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
