"""Where the acoustic stage is cut: into chunks of frames, as in the release; they do not overlap and are put end to end."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.request import CONTEXT_TOKENS
from engine.yue2.vocabulary import CODEC_FIRST, MARKER_ROWS, MUSIC_END, Ids

MUSIC_END_TOKENS = 1  # behind a chunk's codes


def longest_chunk(prefix: int, context: int = CONTEXT_TOKENS) -> int:
    """Frames of the longest chunk behind a prefix of so many tokens; below 1 where the prefix leaves no room.

    A chunk takes a token and a row for each frame, besides music end and two marker rows.
    """
    return (context - prefix - MUSIC_END_TOKENS - MARKER_ROWS) // 2


def chunk_ranges(frames: int, prefix: int, context: int = CONTEXT_TOKENS) -> tuple[range, ...]:
    """The frames of each chunk, in order; raises ValueError where the prefix leaves no room for a frame."""
    size = longest_chunk(prefix, context)
    if size < 1:
        raise ValueError(f"a prefix of {prefix} tokens leaves no room for a frame in a context of {context}")
    return tuple(range(start, min(start + size, frames)) for start in range(0, frames, size))


@dataclass(frozen=True, slots=True)
class Performance:
    """A song to be rendered: what stands before its codes, and its codes (from 0)."""

    prefix: Ids
    codes: Ids


@dataclass(frozen=True, slots=True)
class Chunk:
    """Frames of one song that are solved at once, and the tokens that they attend to."""

    song: int
    frames: range
    tokens: Ids


def chunks_of(songs: Sequence[Performance], context: int) -> list[Chunk]:
    """All chunks of all songs; each attends to the prefix and its own codes only, closed with music end."""
    return [
        Chunk(index, frames, _context_tokens(song, frames))
        for index, song in enumerate(songs)
        for frames in chunk_ranges(len(song.codes), len(song.prefix), context)
    ]


def _context_tokens(song: Performance, frames: range) -> Ids:
    codes = (CODEC_FIRST + code for code in song.codes[frames.start : frames.stop])
    return (*song.prefix, *codes, MUSIC_END)
