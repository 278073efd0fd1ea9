"""Arrays written as audio files, slice by slice, into a sink that may already hold other bytes."""

import io
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
import soundfile

from engine.audio import wav
from engine.audio.mp3 import encode_mp3
from engine.audio.ogg import PageRewriter
from engine.audio.samples import Samples
from engine.bitrates import MP3_BITRATES_KBPS
from engine.control import Check, unchecked
from engine.errors import InvalidRequest

_SLICE_FRAMES = 32_768  # 256 KiB of stereo float32
_OPUS_RATES_HZ = (8_000, 12_000, 16_000, 24_000, 48_000)


@dataclass(frozen=True, slots=True)
class _Format:
    content_type: str
    extension: str
    wav_depth: wav.Depth | None = None


FORMATS = {
    "mp3": _Format("audio/mpeg", "mp3"),
    "opus": _Format("audio/ogg; codecs=opus", "opus"),
    "flac": _Format("audio/flac", "flac"),
    "wav16": _Format("audio/wav", "wav", 16),
    "wav24": _Format("audio/wav", "wav", 24),
    "wav32": _Format("audio/wav", "wav", 32),
}


def content_type(output_format: str) -> str:
    """Media type of an output format. Raises InvalidRequest for an unknown one."""
    return _format(output_format).content_type


def extension(output_format: str) -> str:
    """File name extension of an output format, without the dot. Raises InvalidRequest for an unknown one."""
    return _format(output_format).extension


def encode(
    samples: Samples,
    sample_rate_hz: int,
    output_format: str,
    bitrate_kbps: int,
    sink: BinaryIO,
    check: Check = unchecked,
) -> None:
    """Write `samples` (N, C) at the sink's position and leave the sink at the end of what was written.

    `bitrate_kbps` counts for mp3 (constant, one of MP3_BITRATES_KBPS) and opus. The sink must be seekable; equal
    samples give equal bytes. `check` is called before every slice and stops the encoder by raising; whatever it or
    the sink raises is passed on. Raises InvalidRequest for a format, rate or bitrate that does not exist.
    """
    depth = _format(output_format).wav_depth
    if depth is not None:
        _encode_wav(samples, sample_rate_hz, depth, sink, check)
        return
    if output_format != "flac":
        _check_bitrate(bitrate_kbps)
    if output_format == "mp3":
        encode_mp3(samples, sample_rate_hz, bitrate_kbps, sink, check)
        return
    settings = _settings(output_format, bitrate_kbps, sample_rate_hz, samples.shape[1])
    rewriter = PageRewriter() if output_format == "opus" else None
    _encode_with_library(samples, sample_rate_hz, settings, _Outlet(sink, rewriter), check)


def _format(output_format: str) -> _Format:
    known = FORMATS.get(output_format)
    if known is None:
        raise InvalidRequest(
            "output_format",
            f"There is no output format {output_format!r}; choose one of: {', '.join(FORMATS)}.",
        )
    return known


def _encode_wav(
    samples: Samples, sample_rate_hz: int, depth: wav.Depth, sink: BinaryIO, check: Check
) -> None:
    sink.write(wav.header(samples.shape[0], samples.shape[1], sample_rate_hz, depth))
    quantiser = wav.SampleQuantiser(depth)
    for start in range(0, samples.shape[0], _SLICE_FRAMES):
        check()
        sink.write(quantiser.quantise(samples[start : start + _SLICE_FRAMES]))


def _check_bitrate(bitrate_kbps: int) -> None:
    if bitrate_kbps not in MP3_BITRATES_KBPS:
        rates = ", ".join(map(str, MP3_BITRATES_KBPS))
        raise InvalidRequest(
            "mp3_bitrate", f"{bitrate_kbps} kbit/s is not a bitrate of MP3; choose one of: {rates}."
        )


@dataclass(frozen=True, slots=True)
class _Settings:
    container: str
    subtype: str
    compression_level: float


def _settings(output_format: str, bitrate_kbps: int, sample_rate_hz: int, channels: int) -> _Settings:
    """What libsndfile calls the wish: it knows no bitrate, only a compression level between 0 and 1."""
    if output_format == "flac":
        return _Settings("FLAC", "PCM_24", 0.25)
    if sample_rate_hz not in _OPUS_RATES_HZ:
        raise InvalidRequest("output_format", f"Opus cannot hold {sample_rate_hz} Hz; choose another format.")
    return _Settings("OGG", "OPUS", min(max(1 - (bitrate_kbps / channels - 6) / 250, 0.0), 1.0))


class _Recorder:
    """The file that libsndfile sees: starts at 0 and keeps what is written until it is fetched.

    libsndfile calls back from C, where a Python exception would be lost; so nothing here can fail, and the sink,
    which can, is written between the library's calls. Owns position, length and the writes not yet fetched.
    """

    def __init__(self) -> None:
        self._position = 0
        self._length = 0
        self._writes: list[tuple[int, bytes]] = []

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        origin = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._length}[whence]
        self._position = origin + offset
        return self._position

    def tell(self) -> int:
        return self._position

    def write(self, octets: bytes) -> int:
        self._writes.append((self._position, octets))
        self._position += len(octets)
        self._length = max(self._length, self._position)
        return len(octets)

    def read(self, size: int = -1) -> bytes:
        return b""

    def fetch(self) -> list[tuple[int, bytes]]:
        writes, self._writes = self._writes, []
        return writes


class _Outlet:
    """Carries recorded writes to the sink, whose position at birth is the file's offset 0."""

    def __init__(self, sink: BinaryIO, rewriter: PageRewriter | None) -> None:
        self._sink = sink
        self._origin = sink.tell()
        self._rewriter = rewriter
        self._position = 0
        self._length = 0

    def drain(self, recorder: _Recorder) -> None:
        for offset, octets in recorder.fetch():
            if self._rewriter is not None:
                self._put(self._position, self._rewriter.feed(octets))
            else:
                self._put(offset, octets)

    def rest(self) -> None:
        """Leave the sink at the end of the file."""
        self._sink.seek(self._origin + self._length)

    def _put(self, offset: int, octets: bytes) -> None:
        if offset != self._position:
            self._sink.seek(self._origin + offset)
        self._sink.write(octets)
        self._position = offset + len(octets)
        self._length = max(self._length, self._position)


def _encode_with_library(
    samples: Samples, sample_rate_hz: int, settings: _Settings, outlet: _Outlet, check: Check
) -> None:
    recorder = _Recorder()
    with soundfile.SoundFile(
        recorder,
        "w",
        sample_rate_hz,
        samples.shape[1],
        settings.subtype,
        format=settings.container,
        compression_level=settings.compression_level,
    ) as file:
        for start in range(0, samples.shape[0], _SLICE_FRAMES):
            check()
            file.write(np.ascontiguousarray(samples[start : start + _SLICE_FRAMES], dtype=np.float32))
            outlet.drain(recorder)
    outlet.drain(recorder)
    outlet.rest()
