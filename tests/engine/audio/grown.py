"""Audio files as they are sent while they grow: what is written a second time never reaches who listens."""

import io

import numpy as np

from engine.audio import AudioForm, Samples, open_writer


class _Sent(io.BytesIO):
    """A sink that keeps the first octets written at each place, too."""

    def __init__(self) -> None:
        super().__init__()
        self.sent = b""

    def write(self, octets: object) -> int:
        assert isinstance(octets, bytes | memoryview)
        fresh = bytes(octets)[max(0, len(self.sent) - self.tell()) :]
        self.sent += fresh
        return super().write(octets)


def speech_like(seconds: float, rate_hz: int = 24_000, channels: int = 1) -> Samples:
    """A gliding tone in soft noise (N, C)."""
    time = np.arange(round(seconds * rate_hz)) / rate_hz
    noise = np.random.default_rng(3).normal(0, 0.02, len(time))
    wave = 0.3 * np.sin(2 * np.pi * (200 + 40 * np.sin(time)) * time) + noise
    return np.repeat(wave.astype(np.float32)[:, None], channels, axis=1)


def grown(samples: Samples, rate_hz: int, form: AudioForm) -> tuple[bytes, bytes]:
    """The file as it was sent on the way, and as it is in the end."""
    sink = _Sent()
    with open_writer(rate_hz, samples.shape[1], form, sink) as writer:
        for start in range(0, len(samples), 4_096):
            writer.write(samples[start : start + 4_096])
    return sink.sent, sink.getvalue()
