"""The formats audio is written in, and the writers and arrays that go into them."""

from dataclasses import dataclass
from typing import BinaryIO

from engine.audio import library_writer, wav
from engine.audio.library_writer import LibraryWriter
from engine.audio.mp3 import Mp3Writer
from engine.audio.samples import Samples
from engine.audio.writer import AudioWriter
from engine.bitrates import MP3_BITRATES_KBPS
from engine.control import Check, unchecked
from engine.errors import InvalidRequest


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


def open_writer(
    sample_rate_hz: int,
    channels: int,
    output_format: str,
    bitrate_kbps: int,
    sink: BinaryIO,
    check: Check = unchecked,
) -> AudioWriter:
    """Begin an audio file at the sink's position, to be fed block by block; see `AudioWriter`.

    `bitrate_kbps` counts for mp3 (constant, one of MP3_BITRATES_KBPS) and opus. The sink must be seekable; equal
    samples give equal bytes. Raises InvalidRequest for a format, rate or bitrate that does not exist.
    """
    depth = _format(output_format).wav_depth
    if depth is not None:
        return wav.WavWriter(sample_rate_hz, channels, depth, sink, check)
    if output_format == "flac":
        return LibraryWriter(sample_rate_hz, channels, library_writer.FLAC, sink, check)
    _check_bitrate(bitrate_kbps)
    if output_format == "mp3":
        return Mp3Writer(sample_rate_hz, channels, bitrate_kbps, sink, check)
    settings = library_writer.opus(bitrate_kbps, sample_rate_hz, channels)
    return LibraryWriter(sample_rate_hz, channels, settings, sink, check)


def encode(
    samples: Samples,
    sample_rate_hz: int,
    output_format: str,
    bitrate_kbps: int,
    sink: BinaryIO,
    check: Check = unchecked,
) -> None:
    """Write `samples` (N, C) at the sink's position and leave the sink at the end of what was written.

    As a writer of `open_writer` that is fed all of them, slice by slice, would.
    """
    with open_writer(sample_rate_hz, samples.shape[1], output_format, bitrate_kbps, sink, check) as writer:
        writer.write(samples)


def _format(output_format: str) -> _Format:
    known = FORMATS.get(output_format)
    if known is None:
        raise InvalidRequest(
            "output_format",
            f"There is no output format {output_format!r}; choose one of: {', '.join(FORMATS)}.",
        )
    return known


def _check_bitrate(bitrate_kbps: int) -> None:
    if bitrate_kbps not in MP3_BITRATES_KBPS:
        rates = ", ".join(map(str, MP3_BITRATES_KBPS))
        raise InvalidRequest(
            "mp3_bitrate", f"{bitrate_kbps} kbit/s is not a bitrate of MP3; choose one of: {rates}."
        )
