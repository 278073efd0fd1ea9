"""Audio as float32 arrays of shape (N, C): encoded to files, decoded from them, brought to a loudness or a rate."""

from engine.audio.decoding import AudioHeader, decode, read_header
from engine.audio.encoding import FORMATS, content_type, encode, extension, open_writer
from engine.audio.loudness import integrated_loudness, normalise_loudness
from engine.audio.resampling import resample, resampled_length, stereo
from engine.audio.samples import Samples
from engine.audio.writer import AudioWriter
from engine.bitrates import MP3_BITRATES_KBPS

__all__ = [
    "FORMATS",
    "MP3_BITRATES_KBPS",
    "AudioHeader",
    "AudioWriter",
    "Samples",
    "content_type",
    "decode",
    "encode",
    "extension",
    "integrated_loudness",
    "normalise_loudness",
    "open_writer",
    "read_header",
    "resample",
    "resampled_length",
    "stereo",
]
