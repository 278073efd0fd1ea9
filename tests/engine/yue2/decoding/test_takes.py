import pytest

from engine.yue2.decoding.sampling import Rule
from engine.yue2.decoding.takes import Decoded, SongPrompt, Take
from engine.yue2.vocabulary import MUSIC_END, SEMANTIC_ROWS
from tests.engine.yue2.plain_sampling import sampling_of


def take_of(kept: tuple[int, ...], most: int) -> Take:
    return Take(SongPrompt((1, 2, 3), (4,), kept, 0), Rule(SEMANTIC_ROWS, sampling_of(most=most)))


def test_a_song_may_end_by_itself() -> None:
    take = take_of((160_000,), most=5)
    for token in (160_001, 160_002, MUSIC_END):
        take.accept(token)
    assert take.ended
    assert take.decoded() == Decoded((160_000, 160_001, 160_002), truncated=False)


def test_the_budget_ends_a_song() -> None:
    take = take_of((160_000,), most=2)
    assert not take.ended
    take.accept(160_001)
    assert take.ended
    assert take.decoded() == Decoded((160_000, 160_001), truncated=True)


@pytest.mark.parametrize("kept", [(160_000, 160_001), (160_000, 160_001, 160_002)])
def test_kept_tokens_may_fill_the_budget(kept: tuple[int, ...]) -> None:
    take = take_of(kept, most=2)
    assert take.ended
    assert take.decoded() == Decoded(kept, truncated=True)


def test_each_branch_has_positions_of_its_own() -> None:
    take = take_of((160_000, 160_001), most=9)
    assert take.sequence(negative=False) == (1, 2, 3, 160_000, 160_001)
    assert take.sequence(negative=True) == (4, 160_000, 160_001)
    take.accept(160_002)
    assert (take.position(negative=False), take.position(negative=True)) == (5, 3)
