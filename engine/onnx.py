"""ONNX networks, opened on processors and kept to themselves.

From 1.29 on, onnxruntime tells its makers what it does, and keeps an id and a database in the home folder for that,
unless the environment forbids it by the time of its import. So nobody else here imports it.
"""

import os
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


class Run(Protocol):
    """One run of a network, which ends early once `terminate` is true."""

    terminate: bool


class Value(Protocol):
    """An input or an output of a network."""

    name: str
    type: str


class Network(Protocol):
    """An opened network."""

    def get_inputs(self) -> Sequence[Value]:
        """What it takes."""

    def get_outputs(self) -> Sequence[Value]:
        """What it gives."""

    def run(
        self,
        output_names: Sequence[str] | None,
        input_feed: Mapping[str, NDArray[np.generic]],
        run_options: Run | None = None,
    ) -> Sequence[NDArray[np.generic]]:
        """The outputs named, all of them for None."""


def quiet_onnxruntime() -> ModuleType:
    """onnxruntime, told to tell nobody anything; to be called before a library imports it by itself."""
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    import onnxruntime

    module: ModuleType = onnxruntime
    return module


def open_network(graph: bytes, threads: int) -> Network:
    """A network of so many threads, which sleep while they wait: the cores are shared with others."""
    library = quiet_onnxruntime()
    options = library.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    network: Network = library.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
    return network


def stoppable() -> Run:
    """What a run that may have to be stopped is given."""
    run: Run = quiet_onnxruntime().RunOptions()
    return run
