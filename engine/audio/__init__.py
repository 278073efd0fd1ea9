"""Audio as float32 arrays of shape (N, C): encoded to files, decoded from them, brought to a loudness."""

from engine.audio.decoding import decode
from engine.audio.encoding import FORMATS, content_type, encode, extension
from engine.audio.loudness import integrated_loudness, normalise_loudness
from engine.audio.mp3 import MP3_BITRATES_KBPS
from engine.audio.samples import Samples

__all__ = [
    "FORMATS",
    "MP3_BITRATES_KBPS",
    "Samples",
    "content_type",
    "decode",
    "encode",
    "extension",
    "integrated_loudness",
    "normalise_loudness",
]
