"""Audio files heard as a stream: one channel at 16 kHz, block by block, in memory that does not grow with the file."""

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from math import inf
from pathlib import Path
from typing import BinaryIO, Final

import numpy as np
import soundfile
import soxr
from numpy.typing import NDArray

from engine.audio.containers import BROKEN, Source, container_blocks, one_channel
from engine.audio.opening import opened
from engine.audio.source import at_start
from engine.control import Check, unchecked
from engine.errors import InvalidRequest

Mono = NDArray[np.float32]  # (N,), full scale at ±1

LISTENING_HZ: Final = 16_000
LOWEST_HZ, HIGHEST_HZ = 1_000, 384_000
_BLOCK_SAMPLES: Final = 2**16  # of all channels together: 1.4 s of stereo at 24 kHz
_UNKNOWN_FRAMES: Final = 2**48  # libsndfile gives 2**63 - 1 where a file does not say
_UNKNOWN_BYTES: Final = 2**31 - 2**16  # what writers put into a header that they cannot come back to
_TOLD = re.compile(r"^ *(?:data|SSND|Data Size|riff|Riff size) *: (\d+) \(should be (\d+)\)", re.MULTILINE)
_OGG_TAIL: Final = 2**17  # more than the largest page, 65,307 bytes


@dataclass(frozen=True, slots=True)
class AudioStream:
    """An opened file. `seconds` is what its header says, None where it does not; `blocks` can be walked once."""

    seconds: float | None
    blocks: Iterator[Mono]  # each (N,), N as it comes, at LISTENING_HZ


@contextmanager
def listening(
    source: Path | BinaryIO, *, field: str = "audio", most_seconds: float = inf, check: Check = unchecked
) -> Iterator[AudioStream]:
    """Any file that soundfile reads, and with the extra `containers` any that has a sound track that FFmpeg reads.

    A file object is read from its start. Channels are averaged, values that are no numbers are silence, and all is
    kept within ±1. `check` is called before each block. Raises InvalidRequest, naming `field`, here or while blocks
    are read: for what is no audio, is damaged or cut short, has a rate that is not 1 to 384 kHz, or goes on for longer
    than `most_seconds`, whatever its header says.
    """
    with ExitStack() as closing:
        try:
            found = _source(closing.enter_context(opened(source, field)), source, field)
        except soundfile.LibsndfileError as error:
            found = closing.enter_context(container_blocks(at_start(source), field, error.error_string))
        yield AudioStream(found.seconds, _bounded(_resampled(found, field, check), field, most_seconds))


def _source(file: soundfile.SoundFile, source: Path | BinaryIO, field: str) -> Source:
    """What an opened file holds."""
    _refuse_cut(file, source, field)
    seconds = file.frames / file.samplerate if file.frames < _UNKNOWN_FRAMES else None
    return Source(file.samplerate, seconds, _parts(file, field))


def _parts(file: soundfile.SoundFile, field: str) -> Iterator[Mono]:
    """Blocks (N,) at the file's rate, till it ends or breaks off."""
    buffer = np.empty((max(1, _BLOCK_SAMPLES // file.channels), file.channels), np.float32)
    left = file.frames
    try:
        while len(part := file.read(out=buffer)):
            left -= len(part)
            yield one_channel(part)
    except soundfile.LibsndfileError as error:
        raise InvalidRequest(field, BROKEN) from error
    if left > 0 and file.frames < _UNKNOWN_FRAMES and file.format != "MP3":  # whose frames were all found
        raise InvalidRequest(field, BROKEN)


def _resampled(source: Source, field: str, check: Check) -> Iterator[Mono]:
    if not LOWEST_HZ <= source.rate_hz <= HIGHEST_HZ:
        raise InvalidRequest(
            field, f"The audio has {source.rate_hz} samples a second; send it at 1,000 to 384,000."
        )
    return _at_listening_rate(source, check)


def _bounded(blocks: Iterator[Mono], field: str, most_seconds: float) -> Iterator[Mono]:
    """A small file of silence can go on for weeks, and need not say so."""
    left = most_seconds * LISTENING_HZ
    for block in blocks:
        left -= len(block)
        if left < 0:
            raise too_long(field, most_seconds)
        yield block


def too_long(field: str, most_seconds: float) -> InvalidRequest:
    """What to raise for audio that is longer than may be."""
    return InvalidRequest(
        field, f"The audio is longer than {most_seconds / 3600:g} hours; send it in shorter parts."
    )


def _at_listening_rate(source: Source, check: Check) -> Iterator[Mono]:
    resample = _resampler(source.rate_hz)
    for part in source.blocks:
        check()
        yield from _slices(resample(part, False))
    yield from _slices(resample(np.empty(0, np.float32), True))


def _resampler(rate_hz: int) -> Callable[[Mono, bool], Mono]:
    """What turns a part at `rate_hz`, and whether it is the last, into one at LISTENING_HZ."""
    if rate_hz == LISTENING_HZ:
        return lambda part, last: part
    stream = soxr.ResampleStream(rate_hz, LISTENING_HZ, 1, dtype="float32")

    def resample(part: Mono, last: bool) -> Mono:
        made: Mono = stream.resample_chunk(part, last=last)
        return np.clip(made, -1, 1)  # steep edges ring over full scale

    return resample


def _slices(part: Mono) -> Iterator[Mono]:
    """A block at 1 kHz becomes 16 blocks, none larger than those of other files."""
    for start in range(0, len(part), _BLOCK_SAMPLES):
        yield part[start : start + _BLOCK_SAMPLES]


def _refuse_cut(file: soundfile.SoundFile, source: Path | BinaryIO, field: str) -> None:
    """Find the files that end early and of which libsndfile only says so in its log, or not at all."""
    for told, real in _TOLD.findall(file.extra_info):
        if int(real) < int(told) < _UNKNOWN_BYTES:
            raise InvalidRequest(field, BROKEN)
    if file.format == "OGG" and _ogg_is_cut(_tail(source)):
        raise InvalidRequest(field, BROKEN)


def _tail(source: Path | BinaryIO) -> bytes:
    """The last bytes of the file; a file object is left where it was."""
    if isinstance(source, Path):
        with source.open("rb") as file:
            return _tail(file)
    place = source.tell()
    source.seek(max(0, source.seek(0, 2) - _OGG_TAIL))
    tail = source.read(_OGG_TAIL)
    source.seek(place)
    return tail


def _ogg_is_cut(tail: bytes) -> bool:
    """Whether the last page has fewer bytes than its segment table says (RFC 3533, section 6)."""
    start = tail.rfind(b"OggS")
    if start < 0 or len(tail) < start + 27:
        return True
    table = tail[start + 27 : start + 27 + tail[start + 26]]
    return len(table) < tail[start + 26] or len(tail) < start + 27 + len(table) + sum(table)
