"""What is asked for where a YuE2 model is opened; needs no torch."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Yue2Options:
    """Where the two checkpoints lie, what is wished for, and the file that remembers which weights were verified.

    `device` is auto, cpu, cuda or cuda:N; `precision` auto, bf16, fp16 or fp32; `residency` auto, keep or stage.
    `flow_state` is the number format of the solver's state: fp32, or auto for that of the residual stream.
    """

    model_folder: Path
    vae_folder: Path
    digest_file: Path
    device: str = "auto"
    precision: str = "auto"
    residency: str = "auto"
    flow_state: str = "auto"
