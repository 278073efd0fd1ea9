"""Requests for songs, from options and from replays."""

import json
from pathlib import Path

import pytest

from engine.errors import InvalidRequest
from server.commands.asking import SEED_BITS, replayed, requested


def test_both_seeds_are_told_and_what_is_empty_is_left_out() -> None:
    asked = requested({"style": "folk", "duration": None, "model": ""}, "Come home", None, None, 7)
    assert asked == {"style": "folk", "lyrics": "Come home", "abc": "", "lm_seed": 7, "seed": 7}


def test_a_seed_is_drawn_that_any_reader_of_json_keeps() -> None:
    seeds = [requested({}, "la", None, None, None)["seed"] for _ in range(3)]
    assert len(set(seeds)) == 3
    assert all(isinstance(seed, int) and 0 <= seed < 2**SEED_BITS for seed in seeds)


def test_words_and_scores_come_from_files(tmp_path: Path) -> None:
    (tmp_path / "words.txt").write_text("Come home")
    (tmp_path / "song.abc").write_text("X:1\n")
    asked = requested({}, "", tmp_path / "words.txt", tmp_path / "song.abc", 1)
    assert (asked["lyrics"], asked["abc"]) == ("Come home", "X:1\n")


def test_a_replay_is_sent_with_what_is_changed(tmp_path: Path) -> None:
    replay = tmp_path / "song.json"
    replay.write_text(json.dumps({"style": "folk", "seed": 1, "lm_batch_size": 1}))
    changed = replayed(replay, {"seed": 2, "steps": None})
    assert changed == {"style": "folk", "seed": 2, "lm_batch_size": 1}


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("{", "it is not JSON"),
        ("[]", "it holds no JSON object"),
        ('{"synth_batch_size": 2}', "set its synth_batch_size to 1"),
    ],
)
def test_what_is_no_replay_of_one_track_is_told(tmp_path: Path, content: str, sentence: str) -> None:
    (tmp_path / "song.json").write_text(content)
    with pytest.raises(InvalidRequest, match=sentence):
        replayed(tmp_path / "song.json", {})
