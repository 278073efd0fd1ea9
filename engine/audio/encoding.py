"""The writers of all forms, and arrays that go into them."""

from typing import BinaryIO, Final

from engine.audio import library_writer, wav
from engine.audio.aac import AacWriter
from engine.audio.converting import ConvertingWriter
from engine.audio.form import AudioForm
from engine.audio.library_writer import LibraryWriter
from engine.audio.mp3 import Mp3Writer
from engine.audio.raw import PcmWriter, TelephoneWriter
from engine.audio.samples import Samples
from engine.audio.writer import AudioWriter
from engine.control import Check, unchecked

_WAV_DEPTHS: Final[dict[str, wav.Depth]] = {"wav16": 16, "wav24": 24, "wav32": 32}


def open_writer(
    sample_rate_hz: int, channels: int, form: AudioForm, sink: BinaryIO, check: Check = unchecked
) -> AudioWriter:
    """Begin an audio file at the sink's position, to be fed block by block; see `AudioWriter`.

    Rate and channels are those of the samples, which are brought to the form's own. The sink must be seekable; equal
    samples give equal bytes. Raises InvalidRequest for a form that does not exist or cannot be made here.
    """
    form.check(sample_rate_hz)
    rate_hz, written = form.held(sample_rate_hz, channels)
    writer = _writer(rate_hz, written, form, sink, check)
    if (rate_hz, written) == (sample_rate_hz, channels):
        return writer
    return ConvertingWriter(sample_rate_hz, channels, writer, rate_hz, written, check)


def encode(
    samples: Samples, sample_rate_hz: int, form: AudioForm, sink: BinaryIO, check: Check = unchecked
) -> None:
    """Write `samples` (N, C) at the sink's position and leave the sink at the end of what was written.

    As a writer of `open_writer` that is fed all of them, slice by slice, would.
    """
    with open_writer(sample_rate_hz, samples.shape[1], form, sink, check) as writer:
        writer.write(samples)


def _writer(rate_hz: int, channels: int, form: AudioForm, sink: BinaryIO, check: Check) -> AudioWriter:
    depth = _WAV_DEPTHS.get(form.codec)
    if depth is not None:
        return wav.WavWriter(rate_hz, channels, depth, sink, check)
    match form.codec:
        case "flac":
            return LibraryWriter(rate_hz, channels, library_writer.FLAC, sink, check)
        case "opus":
            settings = library_writer.opus(form.bitrate_kbps, rate_hz, channels)
            return LibraryWriter(rate_hz, channels, settings, sink, check)
        case "mp3":
            return Mp3Writer(rate_hz, channels, form.bitrate_kbps, sink, check)
        case "aac":
            return AacWriter(rate_hz, channels, form.bitrate_kbps, sink, check)
        case "pcm":
            return PcmWriter(channels, sink, check)
        case _:
            return TelephoneWriter(form.codec, sink, check)
