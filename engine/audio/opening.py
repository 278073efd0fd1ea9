"""Audio files opened with libsndfile, so that all they hold can be read."""

import struct
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, Final

import soundfile

from engine.audio.mpeg import frames_of
from engine.audio.octets import Octets
from engine.audio.source import at_start
from engine.audio.spliced import Spliced

_OPEN: Final = struct.pack("<I", 0xFFFFFFFF)  # the size of a chunk that lasts as long as the file
_MOST_CHUNKS: Final = 100


@contextmanager
def opened(source: Path | BinaryIO, field: str) -> Iterator[soundfile.SoundFile]:
    """A file to read once from its start, block by block; how long an MP3 is, is counted and not guessed.

    Raises LibsndfileError for what it does not read, and InvalidRequest, naming `field`, for an MP3 that is damaged or
    cut short as far as its frames tell.
    """
    with ExitStack() as closing:
        file = closing.enter_context(soundfile.SoundFile(at_start(source)))
        if file.format == "MP3" or (file.format in ("WAV", "WAVEX") and not file.frames):
            octets = closing.enter_context(source.open("rb")) if isinstance(source, Path) else source
            whole = frames_of(octets, field) if file.format == "MP3" else _sound_of(octets)
            if whole is not None:
                file = closing.enter_context(soundfile.SoundFile(whole))
        # Else soundfile seeks after each block, and past the end of a file that does not tell its length that fails.
        file.seekable = lambda: False
        yield file


def _sound_of(file: BinaryIO) -> Spliced | None:
    """A RIFF WAVE file with its sizes left open, where they are zero because nobody came back to write them."""
    octets = Octets(file)
    (riff,) = struct.unpack_from("<I", octets.some(0, 12).ljust(12), 4)
    place = 12
    for _ in range(_MOST_CHUNKS):
        name, size = struct.unpack("<4sI", octets.some(place, 8).ljust(8, b"\0"))
        place += 8
        if name == b"data":
            is_open = size == 0 and (riff + 8 <= place or riff == 0xFFFFFFFF) and place < octets.size
            head = octets.some(0, place)
            spans = [(place, octets.size)]
            return Spliced(head[:4] + _OPEN + head[8:-4] + _OPEN, file, spans) if is_open else None
        place += size + size % 2
    return None
