"""The `output_format` codes of ElevenLabs' music calls: codec, sample rate and, where there is one, bit rate."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from engine.audio import AudioForm
from engine.errors import InvalidRequest

AUTO: Final = "auto"
_MP3: Final = ("48000_128", "48000_192", "48000_240", "48000_320", "22050_32", "24000_48", "44100_32")
_MORE_MP3: Final = ("44100_64", "44100_96", "44100_128", "44100_192")
_PCM_HZ: Final = (8_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000)
_OPUS_KBPS: Final = (32, 64, 96, 128, 192)
# MPEG-1 layer III (ISO 11172-3, table of bit rates) has none between 224 and 256 kbit/s: the code asks for no less.
_MP3_KBPS: Final = {240: 256}


def _mp3(code: str) -> AudioForm:
    rate, bitrate = map(int, code.split("_"))
    return AudioForm("mp3", _MP3_KBPS.get(bitrate, bitrate), rate)


FORMS: Final[Mapping[str, AudioForm]] = MappingProxyType(
    {f"mp3_{code}": _mp3(code) for code in (*_MP3, *_MORE_MP3)}
    | {f"pcm_{rate}": AudioForm("pcm", rate_hz=rate) for rate in _PCM_HZ}
    | {"ulaw_8000": AudioForm("ulaw", rate_hz=8_000), "alaw_8000": AudioForm("alaw", rate_hz=8_000)}
    | {f"opus_48000_{rate}": AudioForm("opus", rate, 48_000) for rate in _OPUS_KBPS}
)
"""What each code means; PCM keeps the channels of the song, which has two."""


def audio_form(code: str, automatic: str) -> AudioForm:
    """The form that a code asks for; `auto`, or none, is `automatic`. Raises InvalidRequest('output_format')."""
    form = FORMS.get(automatic if code in ("", AUTO) else code)
    if form is None:
        raise InvalidRequest(
            "output_format",
            f"There is no output_format {code[:40]!r}; choose one of: {', '.join((AUTO, *FORMS))}.",
        )
    return form
