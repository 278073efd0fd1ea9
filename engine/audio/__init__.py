"""Audio as float32 arrays of shape (N, C): encoded to files, decoded from them, brought to a loudness or a rate."""

from engine.audio.decoding import UNTOLD_FRAMES, AudioHeader, decode, read_header
from engine.audio.encoding import encode, open_writer
from engine.audio.form import CODECS, FORMATS, AudioForm
from engine.audio.loudness import integrated_loudness, normalise_loudness
from engine.audio.resampling import resample, resampled_length, stereo
from engine.audio.samples import Samples
from engine.audio.writer import AudioWriter
from engine.bitrates import MP3_BITRATES_KBPS

__all__ = [
    "CODECS",
    "FORMATS",
    "MP3_BITRATES_KBPS",
    "UNTOLD_FRAMES",
    "AudioForm",
    "AudioHeader",
    "AudioWriter",
    "Samples",
    "decode",
    "encode",
    "integrated_loudness",
    "normalise_loudness",
    "open_writer",
    "read_header",
    "resample",
    "resampled_length",
    "stereo",
]
