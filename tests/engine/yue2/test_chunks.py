import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.yue2.chunks import Chunk, Performance, chunk_ranges, chunks_of, longest_chunk
from engine.yue2.vocabulary import CODEC_FIRST, MUSIC_END
from tests.engine.yue2.conftest import Golden

FRAMES = st.integers(0, 3_000)


def test_chunks_are_the_references(golden: Golden) -> None:
    for case in golden.cases("prompt_cases")["chunk_ranges"]:
        ranges = chunk_ranges(case["frames"], case["prefix"], case["context"])
        assert [[chunk.start, chunk.stop] for chunk in ranges] == case["ranges"]


def test_a_long_song_is_one_chunk_behind_a_prefix_of_6573_tokens() -> None:
    assert longest_chunk(6_573) == 9_000
    assert longest_chunk(6_574) == 8_999


@settings(max_examples=60)
@given(FRAMES, st.integers(0, 1_000), st.integers(5, 500))
def test_chunks_cover_every_frame_once_and_fit_the_context(frames: int, prefix: int, room: int) -> None:
    context = prefix + room
    ranges = chunk_ranges(frames, prefix, context)
    assert [frame for chunk in ranges for frame in chunk] == list(range(frames))
    for chunk in ranges:
        tokens, rows = prefix + len(chunk) + 1, len(chunk) + 2
        assert tokens + rows <= context
    for chunk in ranges[:-1]:
        assert prefix + len(chunk) + 1 + len(chunk) + 2 + 2 > context


def test_a_prefix_without_room_for_a_frame_is_refused() -> None:
    assert chunk_ranges(2, 10, 15) == (range(1), range(1, 2))
    with pytest.raises(ValueError, match="a prefix of 11 tokens leaves no room"):
        chunk_ranges(2, 11, 15)


def test_chunks_are_the_prefix_and_their_own_codes() -> None:
    songs = [Performance((7, 8), (1, 2, 3)), Performance((9,), (4,))]
    first = (7, 8, CODEC_FIRST + 1, CODEC_FIRST + 2, MUSIC_END)
    assert chunks_of(songs, 9) == [
        Chunk(0, range(2), first),
        Chunk(0, range(2, 3), (7, 8, CODEC_FIRST + 3, MUSIC_END)),
        Chunk(1, range(1), (9, CODEC_FIRST + 4, MUSIC_END)),
    ]
