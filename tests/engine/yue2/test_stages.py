import pytest

from engine.request import SongRequest, read_song
from engine.song_model import Expected
from engine.yue2.stages import (
    Length,
    Work,
    length_of,
    remaining_of,
    score_length,
    semantic_sampling,
    song_stages,
    work_of,
)

TUNE = "X:1\nT:A\nM:4/4\nL:1/4\nQ:1/4=120\nK:C\nCDEF|GABc|\n"  # 8 beats, 4 s


def song(**fields: object) -> SongRequest:
    return read_song({"style": "folk", **fields})


def test_the_fewest_tokens_give_way_to_the_budget() -> None:
    sampling = semantic_sampling(song(duration=1))
    assert (sampling.min_tokens, sampling.max_tokens) == (25, 25)
    assert semantic_sampling(song()).min_tokens == 200


@pytest.mark.parametrize(
    ("fields", "work"),
    [
        ({}, Work(True, True, (), 9000)),
        ({"cot": "off"}, Work(False, True, (), 9000)),
        ({"abc": TUNE}, Work(False, True, (), 9000)),
        ({"abc": " \n"}, Work(True, True, (), 9000)),
        ({"semantic_tokens": "1,2,3"}, Work(False, False, (1, 2, 3), 9000)),
        ({"semantic_tokens": "1,2,3", "keep_codes": 2}, Work(False, True, (1, 2), 9000)),
        ({"semantic_tokens": "1,2,3", "duration": 0.08}, Work(False, False, (1, 2), 2, True)),
    ],
)
def test_what_is_left_to_do(fields: dict[str, object], work: Work) -> None:
    assert work_of(song(**fields)) == work


def test_the_length_is_that_of_the_score_within_the_budget() -> None:
    assert score_length(TUNE, 9000) == Length(100, "score")
    assert score_length(TUNE, 60) == Length(60, "score")


@pytest.mark.parametrize("text", ["no tune at all", "X:1\nK:C\n|:", "\ufffd\x01"])
def test_a_text_that_cannot_be_read_has_the_length_of_the_budget(text: str) -> None:
    assert score_length(text, 70) == Length(70, "budget")


def test_the_length_is_exact_where_all_codes_are_there() -> None:
    for fields, length in (
        ({"semantic_tokens": "1,2,3", "abc": TUNE}, Length(3, "history")),
        ({"semantic_tokens": "1,2,3", "keep_codes": 2, "abc": TUNE}, Length(100, "score")),
        ({"cot": "off", "duration": 2}, Length(50, "budget")),
    ):
        request = song(**fields)
        assert length_of(request, work_of(request)) == length


@pytest.mark.parametrize(
    ("fields", "remaining"),
    [
        ({}, "codes"),
        ({"semantic_tokens": " \n"}, "codes"),
        ({"semantic_tokens": "1,2,3"}, "latents"),
        ({"semantic_tokens": "1,2,3", "keep_codes": 1}, "codes"),
    ],
)
def test_what_is_made_first_is_told_without_reading_the_codes(
    fields: dict[str, object], remaining: str
) -> None:
    request = song(**fields)
    assert remaining_of(request) == remaining
    assert work_of(request).draws_codes == (remaining == "codes")


def test_the_stages_of_a_whole_song() -> None:
    stages = song_stages(song(duration=8, steps=16, lm_batch_size=2, synth_batch_size=2))
    one = [Expected("decoding", 8.0, "budget"), Expected("encoding", 8.0, "budget")]
    assert stages == [
        Expected("score", 4096, "budget"),
        Expected("semantic", 200, "budget"),
        Expected("acoustic", 16.0, "budget"),
        *one * 4,
    ]


def test_the_stages_of_a_replay_and_of_a_continuation() -> None:
    codes = ",".join(["7"] * 150)
    assert [stage.phase for stage in song_stages(song(semantic_tokens=codes))] == [
        "acoustic",
        "decoding",
        "encoding",
    ]
    first = song_stages(song(semantic_tokens=codes, keep_codes=50, abc=TUNE))[0]
    assert first == Expected("semantic", 50, "score")
    beyond = song_stages(song(semantic_tokens=codes, keep_codes=150, abc=TUNE))[0]
    assert beyond == Expected("semantic", 1, "score")
