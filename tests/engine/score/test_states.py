"""Values that hold from bar to bar."""

from engine.score import parse
from engine.score.states import in_force, keys_along, meters_along, tempos_along
from tests.engine.score.tunes import tune


def test_value_holds_until_it_changes() -> None:
    assert in_force(0, [[None, 5, None], [None, None, None, 7]]) == [0, 5, 5, 7]
    assert in_force("a", []) == []


def test_first_voice_wins_and_false_values_count() -> None:
    assert in_force(1, [[0, None], [2, 2]]) == [0, 2]


def test_meter_and_tempo_hold_for_all_voices_and_the_key_for_its_own() -> None:
    score = parse(tune("[V:1]C8|[M:3/4][Q:60][K:G]C6|C6|\n[V:2]C8|C6|[K:F]C6|"))

    assert meters_along(score) == [(4, 4), (3, 4), (3, 4)]
    assert tempos_along(score) == [120, 60, 60]
    assert keys_along(score, score.voices[0]) == ["C", "G", "G"]
    assert keys_along(score, score.voices[1]) == ["C", "C", "F"]
