"""FLAC and Opus as libsndfile writes them."""

import io
from dataclasses import dataclass
from types import TracebackType
from typing import BinaryIO, Final

import numpy as np
import soundfile

from engine.audio.ogg import PageRewriter
from engine.audio.samples import Samples
from engine.audio.writer import AudioWriter
from engine.control import Check
from engine.errors import InvalidRequest

_OPUS_RATES_HZ: Final = (8_000, 12_000, 16_000, 24_000, 48_000)
# SFC_SET_OGG_PAGE_LATENCY_MS of sndfile.h, which the binding does not name.
_SET_PAGE_LATENCY_MS: Final = 0x1302
# A page each so much audio, a second by default: what is played while it is made waits for its page. 2 % of 64 kbit/s.
_PAGE_MS: Final = 200.0


@dataclass(frozen=True, slots=True)
class Settings:
    """A file's wish in libsndfile's words: it knows no bitrate, only a compression level between 0 and 1."""

    container: str
    subtype: str
    compression_level: float


FLAC: Final = Settings("FLAC", "PCM_24", 0.25)


def opus(bitrate_kbps: int, sample_rate_hz: int, channels: int) -> Settings:
    """Opus near a bitrate. Raises InvalidRequest for a rate that it does not have."""
    if sample_rate_hz not in _OPUS_RATES_HZ:
        raise InvalidRequest("output_format", f"Opus cannot hold {sample_rate_hz} Hz; choose another format.")
    return Settings("OGG", "OPUS", min(max(1 - (bitrate_kbps / channels - 6) / 250, 0.0), 1.0))


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


class LibraryWriter(AudioWriter):
    """A file of libsndfile's. While it grows, FLAC leaves its length at 0, which means unknown; Opus is only appended to.

    FLAC holds back less than one of its blocks (1,152 frames), Opus up to a page of 0.2 seconds and two of its frames.
    """

    def __init__(
        self, sample_rate_hz: int, channels: int, settings: Settings, sink: BinaryIO, check: Check
    ) -> None:
        super().__init__(channels, check)
        is_ogg = settings.container == "OGG"
        self._recorder = _Recorder()
        self._outlet = _Outlet(sink, PageRewriter() if is_ogg else None)
        self._file = soundfile.SoundFile(
            self._recorder,
            "w",
            sample_rate_hz,
            channels,
            settings.subtype,
            format=settings.container,
            compression_level=settings.compression_level,
        )
        if is_ogg:
            _set_page_latency(self._file)

    def _put(self, samples: Samples) -> None:
        self._file.write(np.ascontiguousarray(samples, dtype=np.float32))
        self._outlet.drain(self._recorder)

    def _end(self) -> None:
        self._file.close()
        self._outlet.drain(self._recorder)
        self._outlet.rest()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            super().__exit__(kind, error, trace)
        finally:
            self._file.close()


def _set_page_latency(file: soundfile.SoundFile) -> None:
    """Have pages written as soon as they hold so much audio; the binding has no word for it but its own way to ask."""
    milliseconds = soundfile._ffi.new("double *", _PAGE_MS)
    soundfile._snd.sf_command(file._file, _SET_PAGE_LATENCY_MS, milliseconds, soundfile._ffi.sizeof("double"))
