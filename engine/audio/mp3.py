"""MP3 encoded in parallel: stretches of a song on several threads, spliced frame by frame into one constant stream.

Format: ISO/IEC 11172-3, layer III. A frame's sound data may begin up to 511 bytes before the frame itself, in room that
earlier frames left (`main_data_begin`, the bit reservoir). Each stretch starts some frames early, so that its encoder
has settled where it takes over; the seam is put where the stretch before leaves at least the room that the one after
needs, and that room is then filled with the bytes of the one after. The tag frame follows the LAME tag specification,
revision 1.
"""

import io
import os
import struct
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import Event
from typing import BinaryIO

from engine.audio.samples import Samples

FRAME_SAMPLES = 1152
_HEADER = 4
_SIDE = {1: 17, 2: 32}  # bytes of side information by channels
_STRETCH, _SHORTEST = 1000, 500  # frames
_WARM, _REACH, _SETTLE = 40, 30, 12  # frames before a seam, seams tried, frames that feel an end of the input
_LANES = 4
_WAIT_SECONDS = 0.05
_TAG_BYTES = 156
_COUNTS, _DELAYS, _MUSIC, _SUM = 8, 141, 148, 154  # places in the tag, counted from its name

Encoder = Callable[[Samples, BinaryIO, Callable[[], None]], None]


class NoSeam(Exception):
    """Two stretches cannot be joined anywhere near; encode the song in one go."""


class _Abandoned(Exception):
    """Another stretch failed or the caller stopped."""


@dataclass(frozen=True, slots=True)
class Shape:
    """What all frames of a stream have in common."""

    frame_bytes: int
    slot: int  # where a frame's own room for sound data begins

    def begin(self, stream: bytearray, frame: int) -> int:
        """How many bytes before its own room a frame's sound data begins."""
        at = frame * self.frame_bytes + _HEADER
        return stream[at] << 1 | stream[at + 1] >> 7


def shape_of(sample_rate_hz: int, bitrate_kbps: int, channels: int) -> Shape | None:
    """The frames of a stream, or None where their sizes differ: at odd rates, and where the tag takes a larger one."""
    size, rest = divmod(144_000 * bitrate_kbps, sample_rate_hz)
    if rest or sample_rate_hz < 32_000 or channels not in _SIDE:
        return None
    slot = _HEADER + _SIDE[channels]
    return Shape(size, slot) if size >= slot + _TAG_BYTES else None


def worth_splicing(frames: int) -> bool:
    """Whether so many samples a channel are more than one stretch."""
    return frames >= 2 * _SHORTEST * FRAME_SAMPLES


def encode_spliced(
    samples: Samples,
    shape: Shape,
    encoder: Encoder,
    sink: BinaryIO,
    check: Callable[[], None],
    *,
    lanes: int = 0,
    stretch: int = _STRETCH,
) -> None:
    """Write (N, C) samples as one MP3 stream at the sink's position; the bytes do not depend on `lanes`, the number of threads.

    `encoder` writes a whole stream of its own. Raises NoSeam, with part of a stream written, where stretches do not
    join, and whatever `check`, `encoder` and the sink raise.
    """
    origin = sink.tell()
    spans = list(_spans(samples.shape[0], stretch))
    stopped = Event()

    def encoded(first: int, last: int) -> bytearray:
        def check_abandoned() -> None:
            if stopped.is_set():
                raise _Abandoned

        stretch = io.BytesIO()
        encoder(samples[first * FRAME_SAMPLES : last * FRAME_SAMPLES], stretch, check_abandoned)
        return bytearray(stretch.getbuffer())

    with ThreadPoolExecutor(lanes or min(os.cpu_count() or 1, _LANES), "mp3") as pool:
        try:
            futures = [pool.submit(encoded, span.first, span.last) for span in spans]
            tag, total = _join(spans, futures, shape, sink, check)
        finally:
            stopped.set()
            pool.shutdown(wait=True, cancel_futures=True)
    end = sink.tell()
    sink.seek(origin)
    sink.write(_retagged(tag, shape, total))
    sink.seek(end)


@dataclass(frozen=True, slots=True)
class _Span:
    first: int  # frames of the input
    last: int
    start: int  # frame at which this stretch may take over


def _spans(frames: int, stretch: int) -> Iterator[_Span]:
    total = -(-frames // FRAME_SAMPLES)
    count = max(round(total / stretch), 2)
    size = -(-total // count)
    for start in range(0, total, size):
        ends = start + size >= total
        last = total if ends else start + size + _REACH + _SETTLE
        yield _Span(max(start - _WARM, 0), last, start)


def _join(
    spans: list[_Span],
    futures: list[Future[bytearray]],
    shape: Shape,
    sink: BinaryIO,
    check: Callable[[], None],
) -> tuple[bytearray, int]:
    """Write all frames; the last stretch's tag with the first one's other fields, and how many frames follow it."""
    size = shape.frame_bytes
    current = _awaited(futures[0], check)
    tag, written = current[:size], 0
    sink.write(tag)
    for place, span in enumerate(spans[1:], start=1):
        following = _awaited(futures[place], check)
        first = spans[place - 1].first
        seam = _seam(current, first, following, span, shape)
        _carry_over(current, seam - first + 1, following, seam - span.first + 1, shape)
        sink.write(memoryview(current)[(written - first + 1) * size : (seam - first + 1) * size])
        written, current = seam, following
    first = spans[-1].first
    sink.write(memoryview(current)[(written - first + 1) * size :])
    _copy_delays(current, tag, shape)
    return tag, first + len(current) // size - 1


def _awaited(future: Future[bytearray], check: Callable[[], None]) -> bytearray:
    check()
    while not wait((future,), _WAIT_SECONDS).done:
        check()
    return future.result()


def _seam(before: bytearray, first: int, after: bytearray, span: _Span, shape: Shape) -> int:
    """The first frame from the stretch's start on whose room in `before` is enough for `after`."""
    for frame in range(span.start, span.start + _REACH):
        room, needed = shape.begin(before, frame - first + 1), shape.begin(after, frame - span.first + 1)
        if needed <= room:
            return frame
    raise NoSeam


def _carry_over(before: bytearray, place: int, after: bytearray, other: int, shape: Shape) -> None:
    """Put what frame `other` of `after` keeps in earlier frames into those before frame `place` of `before`."""
    left = shape.begin(after, other)
    while left:
        place, other = place - 1, other - 1
        count = min(left, shape.frame_bytes - shape.slot)
        end, end_other = (place + 1) * shape.frame_bytes, (other + 1) * shape.frame_bytes
        before[end - count : end] = after[end_other - count : end_other]
        left -= count


def _copy_delays(source: bytearray, tag: bytearray, shape: Shape) -> None:
    """The end of the last stretch is the song's: its padding counts."""
    at = shape.slot + _DELAYS
    tag[at + 1] = tag[at + 1] & 0xF0 | source[at + 1] & 0x0F
    tag[at + 2] = source[at + 2]


def _retagged(tag: bytearray, shape: Shape, frames: int) -> bytes:
    """The tag frame with the whole stream's counts; the table of a constant stream is a straight line."""
    start, octets = shape.slot, (frames + 1) * shape.frame_bytes
    struct.pack_into(">II", tag, start + _COUNTS, frames, octets)
    tag[start + _COUNTS + 8 : start + _COUNTS + 108] = bytes(place * 256 // 100 for place in range(100))
    struct.pack_into(">IH", tag, start + _MUSIC, octets, 0)  # players do not read the music's own checksum
    struct.pack_into(">H", tag, start + _SUM, _crc16(tag[: start + _SUM]))
    return bytes(tag)


def _crc16(octets: bytes | bytearray) -> int:
    register = 0
    for octet in octets:
        register ^= octet
        for _ in range(8):
            register = register >> 1 ^ (0xA001 if register & 1 else 0)
    return register
