"""Decoding steps as CUDA graphs, so that a step of hundreds of small kernels costs the host one launch."""

import logging
from collections.abc import Callable
from weakref import WeakSet

import torch

from engine.yue2.decoding.static_batch import Shape, StaticBatch
from engine.yue2.network.backbone import Decoder

MOST_SHAPES = 4
"""Shapes whose graphs are kept; the one that was used longest ago gives way."""

_log = logging.getLogger(__name__)


class Recording:
    """Where the graphs of one device are captured: a stream and a memory pool for all, since one runs at a time."""

    def __init__(self, device: torch.device) -> None:
        new_stream: Callable[[torch.device], torch.cuda.Stream] = torch.cuda.Stream
        self.stream = new_stream(device)
        self.possible = True
        self._pool = torch.cuda.graph_pool_handle()
        self._graphs: WeakSet[torch.cuda.CUDAGraph] = WeakSet()

    def capture(self, step: Callable[[], None], generators: list[torch.Generator]) -> torch.cuda.CUDAGraph:
        """A graph of the step, which draws from the generators; runs nothing."""
        if not self._graphs:  # torch takes a pool whose graphs are all gone for one that is being freed
            self._pool = torch.cuda.graph_pool_handle()
        graph = torch.cuda.CUDAGraph()
        for generator in generators:
            graph.register_generator_state(generator)
        # other threads may use the device meanwhile
        with torch.cuda.graph(graph, self._pool, self.stream, "thread_local"):
            step()
        self._graphs.add(graph)
        return graph


def recording_on(device: torch.device) -> Recording | None:
    """A new recording; None for a device that has no graphs."""
    return Recording(device) if device.type == "cuda" else None


class CapturedSteps:
    """Runs a step as it is the first time, and captures it; from then on the graph is replayed.

    The first run is the warm-up that capturing needs. Capturing runs nothing and leaves the generators where they
    are, and each replay moves them on as a run does (torch: "CUDA Graph-safe RNG states" in CUDAGeneratorImpl.h).
    Where it fails, steps go on being run as they are; where memory ran out, that is raised instead.
    """

    def __init__(self, recording: Recording, generators: list[torch.Generator]) -> None:
        self._recording = recording
        self._generators = generators
        self._graphs: dict[int, torch.cuda.CUDAGraph] = {}

    def run(self, length: int, step: Callable[[], None]) -> None:
        """As `Steps.run`."""
        if length in self._graphs:
            self._graphs[length].replay()
        elif self._recording.possible:
            self._run_and_capture(length, step)
        else:
            step()

    def _run_and_capture(self, length: int, step: Callable[[], None]) -> None:
        stream = self._recording.stream
        outer = torch.cuda.current_stream(stream.device)
        stream.wait_stream(outer)
        try:
            with torch.cuda.stream(stream):
                step()
                self._capture(length, step)
        finally:
            outer.wait_stream(stream)

    def _capture(self, length: int, step: Callable[[], None]) -> None:
        try:
            self._graphs[length] = self._recording.capture(step, self._generators)
        except RuntimeError as error:
            shortage = _shortage(error)
            if shortage is not None:
                raise shortage from error.__cause__
            self._recording.possible = False
            _log.warning("Decoding goes on without CUDA graphs, more slowly: %s", error)


def _shortage(error: BaseException | None) -> BaseException | None:
    """The error that says that memory ran out: this one, or one behind it, since ending a broken capture fails too."""
    while error is not None and "out of memory" not in str(error).lower():
        error = error.__context__
    return error


class Graphs:
    """Batches by shape, on CUDA with the graphs of their steps; owner of both.

    Graphs hold addresses: they are dropped when the cache was allocated anew. Whoever moves the decoder's weights
    calls `drop`.
    """

    def __init__(
        self, decoder: Decoder, recording_on: Callable[[torch.device], Recording | None] = recording_on
    ) -> None:
        self._decoder = decoder
        self._recording_on = recording_on
        self._batches: dict[Shape, StaticBatch] = {}
        self._generation = decoder.cache.generation
        self._recording = recording_on(decoder.cache.device)

    def batch(self, shape: Shape) -> StaticBatch:
        """The batch of that shape, to be begun."""
        if self._generation != self._decoder.cache.generation:
            self.drop()
        batch = self._batches.pop(shape, None) or self._new(shape)
        self._batches[shape] = batch  # the last of them
        if len(self._batches) > MOST_SHAPES:
            self._settle()
            del self._batches[next(iter(self._batches))]
        return batch

    def drop(self) -> None:
        """Give all graphs and their memory back."""
        self._settle()
        self._batches.clear()
        self._recording = self._recording_on(self._decoder.cache.device)
        self._generation = self._decoder.cache.generation

    def _new(self, shape: Shape) -> StaticBatch:
        batch = StaticBatch(self._decoder, shape)
        if self._recording is not None:
            batch.steps = CapturedSteps(self._recording, batch.generators)
        return batch

    def _settle(self) -> None:
        if self._recording is not None:
            torch.cuda.synchronize(self._recording.stream.device)  # a step enqueued ahead may be under way
