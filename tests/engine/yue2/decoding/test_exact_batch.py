import pytest
import torch

from engine.control import Check, unchecked
from engine.yue2.decoding.exact_batch import ExactBatch
from engine.yue2.decoding.prefixes import read_all
from engine.yue2.decoding.sampling import Rule
from engine.yue2.decoding.takes import SongPrompt, Take
from engine.yue2.files.checkpoint import Checkpoint
from engine.yue2.files.config import ModelConfig
from engine.yue2.network.places import ExactPlace, Place
from engine.yue2.vocabulary import MUSIC_END, SEMANTIC_ROWS
from tests.engine.yue2.halves import open_halves
from tests.engine.yue2.plain_sampling import sampling_of


@pytest.mark.parametrize(
    ("guidance", "slots", "positions"), [(1.0, (0, 2), (3, 2)), (1.5, (0, 2, 3, 5), (3, 2, 1, 2))]
)
def test_songs_that_have_ended_leave_the_batch(
    checkpoint: Checkpoint,
    model_config: ModelConfig,
    monkeypatch: pytest.MonkeyPatch,
    guidance: float,
    slots: tuple[int, ...],
    positions: tuple[int, ...],
) -> None:
    decoder = open_halves(checkpoint, model_config, slots=6, capacity=16).decoder
    places, step = list[Place](), decoder.step

    def seen(tokens: torch.Tensor, place: Place, check: Check) -> torch.Tensor:
        places.append(place)
        return step(tokens, place, check)

    monkeypatch.setattr(decoder, "step", seen)
    rule = Rule(SEMANTIC_ROWS, sampling_of(temperature=0, least=9, most=9))
    prompts = [((1, 2, 3), (4,)), ((5,), (6,)), ((7, 8), (9, 10))]
    takes = [Take(SongPrompt(prefix, negative, (), 0), rule) for prefix, negative in prompts]
    branches = (False,) if guidance == 1 else (False, True)
    sequences = [take.sequence(negative) for negative in branches for take in takes]
    batch = ExactBatch(decoder, takes, rule, guidance, unchecked)
    for token, take in zip(
        batch.first(read_all(decoder, sequences, unchecked, masked=False))(), takes, strict=True
    ):
        take.accept(token)
    takes[1].accept(MUSIC_END)
    batch.next()()
    assert places == [ExactPlace(slots, positions)]
