import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest
import torch

from engine.yue2.decoding.graphs import MOST_SHAPES, CapturedSteps, Graphs, Recording
from engine.yue2.decoding.sampling import Rule
from engine.yue2.decoding.static_batch import Shape
from engine.yue2.files.checkpoint import Checkpoint
from engine.yue2.files.config import ModelConfig
from engine.yue2.network.backbone import Decoder
from engine.yue2.vocabulary import SEMANTIC_ROWS
from tests.engine.yue2.halves import open_halves
from tests.engine.yue2.plain_sampling import sampling_of

RULE = Rule(SEMANTIC_ROWS, sampling_of())


class FakeCuda:
    """Stands for torch.cuda where there is none: notes, in order, what happens."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self.said: list[str] = []
        self.refuses = False
        cuda = self

        class Stream:
            def __init__(self, device: torch.device, name: str = "side") -> None:
                self.device, self.name = device, name

            def wait_stream(self, other: "Stream") -> None:
                cuda.said.append(f"{self.name} waits for {other.name}")

        class CUDAGraph:
            def register_generator_state(self, generator: torch.Generator) -> None:
                cuda.said.append(f"register {generator.initial_seed()}")

            def replay(self) -> None:
                cuda.said.append("replay")

        @contextmanager
        def stream(chosen: Stream) -> Iterator[None]:
            cuda.said.append(f"on {chosen.name}")
            yield
            cuda.said.append("back")

        @contextmanager
        def graph(captured: CUDAGraph, pool: str, side: Stream, mode: str) -> Iterator[None]:
            cuda.said.append(f"capture in {pool} on {side.name}, {mode}")
            yield
            if cuda.refuses:
                raise RuntimeError("operation not permitted when stream is capturing")

        for fake in (Stream, CUDAGraph, stream, graph):
            patch.setattr(torch.cuda, fake.__name__, fake)
        patch.setattr(torch.cuda, "graph_pool_handle", lambda: "the pool")
        patch.setattr(torch.cuda, "current_stream", lambda device: Stream(device, "main"))

    def take(self) -> list[str]:
        """What was said since."""
        said, self.said = self.said, []
        return said


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> FakeCuda:
    return FakeCuda(monkeypatch)


@pytest.fixture(scope="module")
def decoder(checkpoint: Checkpoint, model_config: ModelConfig) -> Decoder:
    return open_halves(checkpoint, model_config, slots=1, capacity=16).decoder


def test_a_step_is_run_then_captured_then_replayed(cuda: FakeCuda) -> None:
    generators = [torch.Generator().manual_seed(seed) for seed in (5, 6)]
    steps = CapturedSteps(Recording(torch.device("cuda")), generators)
    steps.run(1024, lambda: cuda.said.append("step"))
    running = ["side waits for main", "on side", "step"]
    capturing = ["register 5", "register 6", "capture in the pool on side, thread_local", "step"]
    assert cuda.take() == [*running, *capturing, "back", "main waits for side"]
    steps.run(1024, lambda: cuda.said.append("step"))
    assert cuda.take() == ["replay"]
    steps.run(2048, lambda: cuda.said.append("step"))
    assert cuda.take().count("step") == 2


def test_where_capturing_fails_steps_go_on_as_they_are(
    cuda: FakeCuda, caplog: pytest.LogCaptureFixture
) -> None:
    cuda.refuses = True
    recording = Recording(torch.device("cuda"))
    steps, others = CapturedSteps(recording, []), CapturedSteps(recording, [])
    with caplog.at_level(logging.WARNING, logger="engine.yue2.decoding.graphs"):
        steps.run(1024, lambda: None)
        assert cuda.take()[-2:] == ["back", "main waits for side"]
        for again in (steps, others):
            again.run(1024, lambda: cuda.said.append("step"))
    assert cuda.take() == ["step", "step"]
    assert [record.getMessage() for record in caplog.records] == [
        "Decoding goes on without CUDA graphs, more slowly: operation not permitted when stream is capturing"
    ]


def test_songs_of_one_shape_share_a_batch(decoder: Decoder) -> None:
    graphs = Graphs(decoder)
    one = graphs.batch(Shape.of(1, RULE, 1.0))
    two = graphs.batch(Shape.of(2, RULE, 1.0))
    assert one is not two
    assert graphs.batch(Shape.of(1, RULE, 1.0)) is one
    graphs.drop()
    assert graphs.batch(Shape.of(1, RULE, 1.0)) is not one


def test_the_shape_used_longest_ago_gives_way(decoder: Decoder) -> None:
    graphs = Graphs(decoder)
    shapes = [Shape.of(songs, RULE, 1.0) for songs in range(1, MOST_SHAPES + 1)]
    batches = [graphs.batch(shape) for shape in shapes]
    assert graphs.batch(shapes[0]) is batches[0]
    graphs.batch(replace(shapes[0], greedy=True))
    assert graphs.batch(shapes[0]) is batches[0]
    assert graphs.batch(shapes[1]) is not batches[1]


def test_a_cache_that_was_allocated_anew_drops_all(checkpoint: Checkpoint, model_config: ModelConfig) -> None:
    decoder = open_halves(checkpoint, model_config, slots=1, capacity=16).decoder
    graphs, shape = Graphs(decoder), Shape.of(1, RULE, 1.0)
    batch = graphs.batch(shape)
    decoder.cache.reserve(1)
    assert graphs.batch(shape) is batch
    decoder.cache.reserve(2)
    assert graphs.batch(shape) is not batch
