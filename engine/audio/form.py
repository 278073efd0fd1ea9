"""The forms in which sound can be stored: which codec, how many bits, at which rate, in how many channels."""

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Final

from engine.audio.containers import INSTALLATION
from engine.bitrates import MP3_BITRATES_KBPS
from engine.errors import InvalidRequest


@dataclass(frozen=True, slots=True)
class _Kind:
    content_type: str
    extension: str
    rates_hz: tuple[int, ...] = ()  # those that there are; empty for any
    has_bitrate: bool = False


_MP3_HZ: Final = (8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000)
_OPUS_HZ: Final = (8_000, 12_000, 16_000, 24_000, 48_000)
_AAC_HZ: Final = (*_MP3_HZ, 64_000, 88_200, 96_000)
_TELEPHONE_HZ: Final = 8_000
_KINDS: Final = {
    "mp3": _Kind("audio/mpeg", "mp3", _MP3_HZ, has_bitrate=True),
    "opus": _Kind("audio/ogg; codecs=opus", "opus", _OPUS_HZ, has_bitrate=True),
    "flac": _Kind("audio/flac", "flac"),
    "wav16": _Kind("audio/wav", "wav"),
    "wav24": _Kind("audio/wav", "wav"),
    "wav32": _Kind("audio/wav", "wav"),
    "pcm": _Kind("audio/pcm", "pcm"),
    "aac": _Kind("audio/aac", "aac", _AAC_HZ, has_bitrate=True),
    "ulaw": _Kind("audio/basic", "ulaw", (_TELEPHONE_HZ,)),
    "alaw": _Kind("audio/x-alaw-basic", "alaw", (_TELEPHONE_HZ,)),
}
_TELEPHONE: Final = ("ulaw", "alaw")  # raw bytes of which nothing tells the rate: 8 kHz and one channel
LOWEST_HZ, HIGHEST_HZ = 4_000, 192_000
MOST_CHANNELS: Final = 2

CODECS: Final = tuple(_KINDS)
"""All that a form can name."""

FORMATS: Final = ("mp3", "opus", "flac", "wav16", "wav24", "wav32")
"""Those that are a request's `output_format`."""


@dataclass(frozen=True, slots=True)
class AudioForm:
    """How samples become a file.

    `codec` is one of CODECS: a native `output_format`, or pcm (16 bits, little-endian, no head), aac (ADTS), ulaw or alaw
    (G.711, no head). `bitrate_kbps`, one of MP3_BITRATES_KBPS, counts for mp3, opus and aac. Samples are brought to
    `rate_hz` and `channels` first; None leaves them as they are, but for ulaw and alaw, which are 8 kHz and one channel.
    """

    codec: str
    bitrate_kbps: int = 128
    rate_hz: int | None = None
    channels: int | None = None

    @property
    def content_type(self) -> str:
        """Its media type. Raises InvalidRequest for an unknown codec."""
        return self._kind.content_type

    @property
    def extension(self) -> str:
        """Of its file's name, without the dot. Raises InvalidRequest for an unknown codec."""
        return self._kind.extension

    def check(self, made_hz: int | None = None) -> None:
        """Raise InvalidRequest, naming `output_format` or `mp3_bitrate`, for what does not exist or cannot be made here.

        `made_hz` is the rate of the samples, where it is known already.
        """
        kind, rate = self._kind, self.rate_hz or made_hz
        if self.codec in _TELEPHONE:
            rate = self.rate_hz
        if rate is not None:
            _check_rate(self.codec, kind, rate)
        if not 1 <= (self.channels or 1) <= (1 if self.codec in _TELEPHONE else MOST_CHANNELS):
            raise InvalidRequest(
                "output_format",
                f"{_name(self.codec)} is not written in {self.channels} channels; ask for one channel.",
            )
        if kind.has_bitrate and self.bitrate_kbps not in MP3_BITRATES_KBPS:
            rates = ", ".join(map(str, MP3_BITRATES_KBPS))
            raise InvalidRequest(
                "mp3_bitrate",
                f"{self.bitrate_kbps} kbit/s is not a bitrate of {_name(self.codec)}; choose one of: {rates}.",
            )
        if self.codec == "aac" and find_spec("av") is None:
            raise InvalidRequest(
                "output_format",
                f"AAC is written by PyAV, which is not installed; choose another format, or run {INSTALLATION}",
            )

    def held(self, made_hz: int, made_channels: int) -> tuple[int, int]:
        """Rate in Hz and channels of the file, for samples of such a rate and so many channels."""
        if self.codec in _TELEPHONE:
            return _TELEPHONE_HZ, 1
        return self.rate_hz or made_hz, self.channels or made_channels

    @property
    def _kind(self) -> _Kind:
        known = _KINDS.get(self.codec)
        if known is None:
            raise InvalidRequest(
                "output_format",
                f"There is no output format {self.codec!r}; choose one of: {', '.join(CODECS)}.",
            )
        return known


def _check_rate(codec: str, kind: _Kind, rate_hz: int) -> None:
    if kind.rates_hz and rate_hz not in kind.rates_hz:
        raise InvalidRequest(
            "output_format",
            f"{_name(codec)} cannot hold {rate_hz} Hz; choose another format.",
        )
    if not LOWEST_HZ <= rate_hz <= HIGHEST_HZ:
        raise InvalidRequest(
            "output_format", f"{rate_hz} Hz is no rate to write; choose {LOWEST_HZ} to {HIGHEST_HZ} Hz."
        )


def _name(codec: str) -> str:
    return {"mp3": "MP3", "opus": "Opus", "aac": "AAC"}.get(codec, codec)
