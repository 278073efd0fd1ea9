"""MP3 at a constant bitrate: LAME's frames behind a tag frame that tells players how much of them is padding.

Format: ISO/IEC 11172-3 and 13818-3, layer III; the tag frame after the LAME tag specification, revision 1. LAME's
binding leaves that frame out; without it a decoded song would begin 1105 samples late and end later still.
"""

import struct
from dataclasses import dataclass
from typing import BinaryIO

import lameenc
import numpy as np

from engine.audio.samples import Samples
from engine.audio.writer import AudioWriter
from engine.bitrates import MP3_BITRATES_KBPS
from engine.control import Check
from engine.errors import InvalidRequest

MP3_RATES_HZ = (8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000)
_LOW_RATE_BITRATES_KBPS = (8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160)
_MOST_KBPS = ((12_000, 64), (24_000, 160))  # up to so many Hz; as LAME has them
_QUALITY = 5
_ATTENUATIONS = ((160, 0.95), (192, 0.97), (224, 0.98))  # up to so many kbit/s
_ENCODER_DELAY = 576
_TAG_BYTES = 156
_NO_FIELDS = 0
_ALL_FIELDS = 15  # frame count, byte count, seek table and quality are all there
_STEADY = 1  # revision 0 of the tag, constant bitrate


class Mp3Writer(AudioWriter):
    """(N, 1) or (N, 2) samples as one stream of MP3.

    The decoded audio is as loud as the samples: LAME turns the level down where bits are few, which is made up for.
    So values beyond full scale are clipped, and up to 160 kbit/s those beyond 0.95 of it. Where the sample rate allows
    less than the bitrate, the most it allows is taken. Raises InvalidRequest for a rate that MP3 does not have.

    While it grows, its tag frame tells no length, so that a player hears LAME's delay, some 1,105 samples of silence.
    LAME holds back less than three of its frames (1,152 samples, half as many below 32 kHz).
    """

    def __init__(
        self, sample_rate_hz: int, channels: int, bitrate_kbps: int, sink: BinaryIO, check: Check
    ) -> None:
        super().__init__(channels, check)
        if sample_rate_hz not in MP3_RATES_HZ:
            raise InvalidRequest(
                "output_format", f"MP3 cannot hold {sample_rate_hz} Hz; choose another format."
            )
        self._sample_rate_hz = sample_rate_hz
        self._sink = sink
        self._origin = sink.tell()
        self._tag: TagFrame | None = None
        most_kbps = next((most for rate_hz, most in _MOST_KBPS if sample_rate_hz <= rate_hz), bitrate_kbps)
        kbps = min(bitrate_kbps, most_kbps)
        self._encoder = _encoder(sample_rate_hz, kbps, channels)
        self._gain = _make_up(kbps)

    def _put(self, samples: Samples) -> None:
        self._append(bytes(self._encoder.encode(_pcm(samples, self._gain))))

    def _append(self, octets: bytes) -> None:
        if octets and self._tag is None:
            self._tag = TagFrame.before(octets, self._sample_rate_hz)
            self._sink.write(self._tag.unfinished())
        self._sink.write(octets)

    def _end(self) -> None:
        if not self._frames:
            return
        self._check()
        self._append(bytes(self._encoder.flush()))
        if self._tag is not None:
            end = self._sink.tell()
            self._sink.seek(self._origin)
            self._sink.write(self._tag.written(end - self._origin - self._tag.size, self._frames))
            self._sink.seek(end)


def _encoder(sample_rate_hz: int, bitrate_kbps: int, channels: int) -> lameenc.Encoder:
    encoder = lameenc.Encoder()
    encoder.silence()
    encoder.set_channels(channels)
    encoder.set_in_sample_rate(sample_rate_hz)
    encoder.set_out_sample_rate(sample_rate_hz)
    encoder.set_bit_rate(bitrate_kbps)
    encoder.set_quality(_QUALITY)
    return encoder


def _make_up(bitrate_kbps: int) -> float:
    """What makes up for LAME's own attenuation at this bitrate (the scale column of its `abr_switch_map`)."""
    return 1 / next((scale for most, scale in _ATTENUATIONS if bitrate_kbps <= most), 1.0)


def _pcm(samples: Samples, gain: float) -> bytes:
    steps: Samples = np.rint(samples * np.float32(32_768 * gain))
    return np.clip(steps, -32_768, 32_767).astype("<i2").tobytes()


@dataclass(frozen=True, slots=True)
class TagFrame:
    """The silent frame ahead of a stream that holds its length, byte count, delay and padding."""

    header: bytes
    size: int  # bytes
    place: int  # where the tag begins, behind the room for side information
    samples_a_frame: int
    bytes_a_sample: float  # of the stream behind it

    @classmethod
    def before(cls, stream: bytes, sample_rate_hz: int) -> "TagFrame":
        """The frame that suits a stream, of which at least the first header is given.

        It has the stream's bitrate where it fits in, else the next higher one.
        """
        full_rate, mono, index = stream[1] >> 3 & 1, stream[3] >> 6 == 3, stream[2] >> 4
        bitrates = MP3_BITRATES_KBPS if full_rate else _LOW_RATE_BITRATES_KBPS
        length = 1152 if full_rate else 576
        place = 4 + ((17 if mono else 32) if full_rate else (9 if mono else 17))
        sizes = [length * 125 * kbps // sample_rate_hz for kbps in bitrates]
        own = next(nth for nth in range(index - 1, len(sizes)) if sizes[nth] >= place + _TAG_BYTES)
        header = stream[:2] + bytes([(own + 1) << 4 | stream[2] & 0x0C, stream[3] & 0xCF])
        return cls(header, sizes[own], place, length, 125 * bitrates[index - 1] / sample_rate_hz)

    def unfinished(self) -> bytes:
        """The frame's bytes while it is not yet known how long the stream will be: it tells the delay alone."""
        return self._sealed(struct.pack(">4sI", b"Info", _NO_FIELDS), padding=0, total=0)

    def written(self, stream_bytes: int, samples: int) -> bytes:
        """The frame's bytes, for a stream of so many bytes that holds so many samples a channel."""
        frames = round(stream_bytes / self.bytes_a_sample / self.samples_a_frame)
        padding = frames * self.samples_a_frame - _ENCODER_DELAY - samples
        total = self.size + stream_bytes
        seek_table = bytes(percent * 256 // 100 for percent in range(100))
        tag = struct.pack(">4s3I100sI", b"Info", _ALL_FIELDS, frames, total, seek_table, 0)
        return self._sealed(tag, padding, total)

    def _sealed(self, tag: bytes, padding: int, total: int) -> bytes:
        tag += struct.pack(">9sB11x", b"LAME3.100", _STEADY)
        tag += (_ENCODER_DELAY << 12 | padding).to_bytes(3, "big")
        tag += struct.pack(">4xI2x", total)  # the checksum of the music is left at 0
        octets = self.header.ljust(self.place, b"\0") + tag
        return (octets + _crc16(octets).to_bytes(2, "big")).ljust(self.size, b"\0")


def _crc16(octets: bytes) -> int:
    register = 0
    for octet in octets:
        register ^= octet
        for _ in range(8):
            register = register >> 1 ^ (0xA001 if register & 1 else 0)
    return register
