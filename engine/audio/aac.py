"""AAC in a stream of ADTS frames, by FFmpeg's own encoder, where PyAV is installed.

Format: ISO/IEC 13818-7, section 6.2 (adts_fixed_header, adts_variable_header). Each frame stands on its own, so that the
file is only appended to; nothing in it tells a length or how much of its beginning is the encoder's delay.
"""

from typing import BinaryIO, Final

import numpy as np

from engine.audio.samples import Samples
from engine.audio.writer import AudioWriter
from engine.control import Check

FRAME_SAMPLES: Final = 1_024
DELAY_SAMPLES: Final = 1_024  # of the encoder, heard as silence before the first sample
_RATES_HZ: Final = (
    96_000,
    88_200,
    64_000,
    48_000,
    44_100,
    32_000,
    24_000,
    22_050,
    16_000,
    12_000,
    11_025,
    8_000,
)
_HEADER_BYTES: Final = 7
_SYNCHRONISATION: Final = 0xFFF1  # MPEG-4, no checksum
_LOW_COMPLEXITY: Final = 1
_NO_FULLNESS: Final = 0x7FF  # a variable bitrate


class AacWriter(AudioWriter):
    """(N, 1) or (N, 2) samples as AAC; holds back less than three of its frames (1,024 samples).

    A bitrate beyond what the rate allows becomes the most that it allows, which FFmpeg sees to.
    """

    def __init__(
        self, sample_rate_hz: int, channels: int, bitrate_kbps: int, sink: BinaryIO, check: Check
    ) -> None:
        super().__init__(channels, check)
        from av import AudioCodecContext, AudioFrame

        self._context = AudioCodecContext.create("aac", "w")
        self._context.sample_rate = sample_rate_hz
        self._context.layout = "mono" if channels == 1 else "stereo"
        self._context.format = "fltp"
        self._context.bit_rate = bitrate_kbps * 1_000
        self._context.thread_count = 1
        self._frame = AudioFrame.from_ndarray
        self._rate = sample_rate_hz
        self._sink = sink
        self._waiting: Samples = np.zeros((0, channels), np.float32)

    def _put(self, samples: Samples) -> None:
        self._waiting = np.concatenate([self._waiting, np.clip(samples, -1, 1)])
        whole = len(self._waiting) // FRAME_SAMPLES * FRAME_SAMPLES
        for start in range(0, whole, FRAME_SAMPLES):
            self._encode(self._waiting[start : start + FRAME_SAMPLES])
        self._waiting = self._waiting[whole:]

    def _encode(self, samples: Samples) -> None:
        frame = self._frame(np.ascontiguousarray(samples.T), format="fltp", layout=self._context.layout.name)
        frame.sample_rate = self._rate
        frame.pts = None
        for packet in self._context.encode(frame):
            self._append(bytes(packet))

    def _append(self, packet: bytes) -> None:
        self._sink.write(header(self._rate, self._channels, len(packet)) + packet)

    def _end(self) -> None:
        if not self._frames:
            return
        self._check()
        if len(self._waiting):
            self._encode(self._waiting)
        for packet in self._context.encode(None):
            self._append(bytes(packet))


def header(sample_rate_hz: int, channels: int, packet_bytes: int) -> bytes:
    """What stands before one packet of AAC-LC."""
    fields = (
        (_SYNCHRONISATION, 16),
        (_LOW_COMPLEXITY, 2),
        (_RATES_HZ.index(sample_rate_hz), 4),
        (0, 1),  # private
        (channels, 3),
        (0, 4),  # original, home, copyright and its start
        (packet_bytes + _HEADER_BYTES, 13),
        (_NO_FULLNESS, 11),
        (0, 2),  # one block of samples
    )
    bits = 0
    for value, width in fields:
        bits = bits << width | value
    return bits.to_bytes(_HEADER_BYTES, "big")
