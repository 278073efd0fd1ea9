from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import ClassVar

import pytest
import torch

from engine.yue2.decoding.graphs import Graphs
from engine.yue2.decoding.sampling import NOT_FINITE, Rule
from engine.yue2.decoding.static_batch import BUCKET, Arrivals, PlainSteps, Shape
from engine.yue2.files.checkpoint import Checkpoint
from engine.yue2.files.config import ModelConfig
from engine.yue2.network.backbone import Decoder
from engine.yue2.vocabulary import SEMANTIC_ROWS
from tests.engine.yue2.conftest import Golden
from tests.engine.yue2.halves import open_halves
from tests.engine.yue2.plain_sampling import sampling_of
from tests.engine.yue2.runs import Run, reference_run


class NotedSteps(PlainSteps):
    """Notes the length that each step reads."""

    def __init__(self) -> None:
        self.lengths: list[int] = []

    def run(self, length: int, step: Callable[[], None]) -> None:
        self.lengths.append(length)
        super().run(length, step)


@pytest.fixture(scope="module")
def decoder(checkpoint: Checkpoint, model_config: ModelConfig) -> Decoder:
    return open_halves(checkpoint, model_config, slots=2, capacity=BUCKET + 50).decoder


def noted(decoder: Decoder, run: Run) -> tuple[Graphs, NotedSteps]:
    graphs, steps = Graphs(decoder), NotedSteps()
    rule = Rule(run.rows, run.sampling, run.legacy)
    graphs.batch(Shape.of(len(run.songs), rule, run.guidance)).steps = steps
    return graphs, steps


def long_prompt(golden: Golden, length: int) -> Run:
    """Greedy drawing after a prefix of so many ids."""
    run = reference_run(golden, "semantic_greedy")
    return run.of(replace(run.songs[0], prefix=(run.songs[0].prefix * 20)[:length])).shorter(10)


def test_steps_read_a_longer_part_of_the_cache_as_songs_grow(decoder: Decoder, golden: Golden) -> None:
    run = long_prompt(golden, BUCKET - 4)
    graphs, steps = noted(decoder, run)
    assert run.decode(decoder, graphs=graphs) == run.decode(decoder)
    assert steps.lengths == [BUCKET] * 4 + [BUCKET + 50] * 6


def test_songs_that_have_ended_go_on_within_the_cache(decoder: Decoder, golden: Golden) -> None:
    run = long_prompt(golden, BUCKET + 40)
    short, long = replace(run.songs[0], prefix=run.songs[0].prefix[:7]), run.songs[0]
    kept = tuple(SEMANTIC_ROWS.first + code for code in range(1, 9))
    pair = run.of(short, replace(long, kept=kept))
    graphs, steps = noted(decoder, pair)
    songs = pair.decode(decoder, graphs=graphs)
    assert songs == pair.decode(decoder)
    assert len(long.prefix + songs[1].tokens) == BUCKET + 50
    assert set(steps.lengths) == {BUCKET + 50}


@pytest.mark.parametrize("places", [[3, 0], [NOT_FINITE, 32_768]])
def test_places_arrive_as_tokens_of_their_own_step(places: list[int]) -> None:
    arrivals, drawn = Arrivals(2, torch.device("cpu")), torch.tensor(places)
    earlier = arrivals.send(drawn, SEMANTIC_ROWS.first)
    drawn.fill_(5)
    later = arrivals.send(drawn, SEMANTIC_ROWS.first)
    expected = [place if place == NOT_FINITE else place + SEMANTIC_ROWS.first for place in places]
    assert earlier() == expected
    assert later() == [SEMANTIC_ROWS.first + 5] * 2


class LateEvent:
    """Stands for an event of a card: what was copied before it is there once it is waited for."""

    pending: ClassVar[list[Callable[[], object]]] = []

    def record(self, stream: str) -> None:
        assert stream == "the stream"

    def synchronize(self) -> None:
        while self.pending:
            self.pending.pop()()


class LateRoom:
    """Pinned memory that a card writes to when it comes to it."""

    def __init__(self, songs: int) -> None:
        self._held = torch.full((songs,), 5)

    def copy_(self, places: torch.Tensor, non_blocking: bool) -> None:
        assert non_blocking
        LateEvent.pending.append(partial(self._held.copy_, places.clone()))

    def tolist(self) -> list[int]:
        found: list[int] = self._held.tolist()
        return found


def test_places_from_a_card_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def pinned(songs: int, dtype: torch.dtype, pin_memory: bool) -> LateRoom:
        assert pin_memory
        return LateRoom(songs)

    monkeypatch.setattr(torch, "zeros", pinned)
    monkeypatch.setattr(torch.cuda, "Event", LateEvent)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: "the stream")
    arrivals = Arrivals(2, torch.device("cuda"))
    arrived = arrivals.send(torch.tensor([3, NOT_FINITE]), 100)
    assert arrived() == [103, NOT_FINITE]


def test_a_shape_holds_what_a_graph_depends_on() -> None:
    rule = Rule(SEMANTIC_ROWS, sampling_of(temperature=0.5))
    same = Rule(SEMANTIC_ROWS, sampling_of(temperature=2.0, top_p=0.5, top_k=7, penalty=2.0, window=3))
    assert Shape.of(2, rule, 1.5) == Shape.of(2, same, 3.0)
    others = {
        Shape.of(1, rule, 1.5),
        Shape.of(2, rule, 1.0),
        Shape.of(2, replace(rule, legacy=True), 1.5),
        Shape.of(2, replace(rule, sampling=sampling_of(temperature=0)), 1.5),
    }
    assert len(others | {Shape.of(2, rule, 1.5)}) == 5
