import logging
from collections.abc import Callable, Iterator
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
        self.refusal: Callable[[], RuntimeError] | None = None
        self.pools = 0
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
            try:
                yield
            finally:
                cuda.said.append("back")

        @contextmanager
        def graph(captured: CUDAGraph, pool: str, side: Stream, mode: str) -> Iterator[None]:
            cuda.said.append(f"capture in {pool} on {side.name}, {mode}")
            yield
            if cuda.refusal is not None:
                raise cuda.refusal()

        for fake in (Stream, CUDAGraph, stream, graph):
            patch.setattr(torch.cuda, fake.__name__, fake)
        patch.setattr(torch.cuda, "graph_pool_handle", self._next_pool)
        patch.setattr(torch.cuda, "synchronize", lambda device: self.said.append(f"wait for {device}"))
        patch.setattr(torch.cuda, "current_stream", lambda device: Stream(device, "main"))

    def _next_pool(self) -> str:
        self.pools += 1
        return f"pool {self.pools}"

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
    capturing = ["register 5", "register 6", "capture in pool 2 on side, thread_local", "step"]
    assert cuda.take() == [*running, *capturing, "back", "main waits for side"]
    steps.run(1024, lambda: cuda.said.append("step"))
    assert cuda.take() == ["replay"]
    steps.run(2048, lambda: cuda.said.append("step"))
    assert cuda.take().count("step") == 2


def test_where_capturing_fails_steps_go_on_as_they_are(
    cuda: FakeCuda, caplog: pytest.LogCaptureFixture
) -> None:
    cuda.refusal = lambda: RuntimeError("operation not permitted when stream is capturing")
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


def broken_by_a_shortage() -> RuntimeError:
    """How torch ends a capture in which memory ran out, where ending it fails as well."""
    error = RuntimeError("operation failed due to a previous error during capture")
    error.__context__ = torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 MiB.")
    return error


@pytest.mark.parametrize(
    "shortage",
    [
        lambda: torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 MiB."),
        lambda: RuntimeError("CUDA error: out of memory"),
        broken_by_a_shortage,
    ],
)
def test_where_memory_runs_out_while_capturing_the_caller_hears_of_it(
    cuda: FakeCuda, shortage: Callable[[], RuntimeError]
) -> None:
    steps = CapturedSteps(Recording(torch.device("cuda")), [])
    cuda.refusal = shortage
    with pytest.raises(RuntimeError, match="out of memory"):
        steps.run(1024, lambda: None)
    assert cuda.take()[-2:] == ["back", "main waits for side"]
    cuda.refusal = None
    steps.run(1024, lambda: None)
    steps.run(1024, lambda: None)
    assert cuda.take()[-1] == "replay"


def test_a_pool_whose_graphs_are_all_gone_is_not_taken_again(cuda: FakeCuda) -> None:
    recording = Recording(torch.device("cuda"))
    first, second = (CapturedSteps(recording, []) for _ in range(2))
    first.run(1024, lambda: None)
    second.run(1024, lambda: None)
    del first
    second.run(2048, lambda: None)
    del second
    CapturedSteps(recording, []).run(1024, lambda: None)
    pools = [words.split()[3] for words in cuda.take() if words.startswith("capture")]
    assert pools == ["2", "2", "2", "3"]


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


def test_before_graphs_go_what_was_enqueued_is_waited_for(cuda: FakeCuda, decoder: Decoder) -> None:
    graphs = Graphs(decoder, lambda _: Recording(torch.device("cuda")))
    shapes = [Shape.of(songs, RULE, 1.0) for songs in range(1, MOST_SHAPES + 1)]
    for shape in shapes:
        graphs.batch(shape)
    assert cuda.take() == []
    graphs.batch(replace(shapes[0], greedy=True))
    assert cuda.take() == ["wait for cuda"]
    graphs.drop()
    assert cuda.take() == ["wait for cuda"]


def test_graphs_that_were_dropped_leave_neither_pool_nor_stream(cuda: FakeCuda, decoder: Decoder) -> None:
    made: list[Recording] = []

    def recorded(device: torch.device) -> Recording:
        made.append(Recording(torch.device("cuda")))
        return made[-1]

    graphs, shape = Graphs(decoder, recorded), Shape.of(1, RULE, 1.0)
    graphs.batch(shape).steps.run(16, lambda: None)
    graphs.drop()
    graphs.batch(shape).steps.run(16, lambda: None)
    assert len(made) == 2
    captured = [words for words in cuda.take() if words.startswith("capture")]
    assert len(set(captured)) == 2
