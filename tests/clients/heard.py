"""What is in an audio file, found out by another library than the one that wrote it."""

import io
import wave
from dataclasses import dataclass

import av
import numpy as np
from numpy.typing import NDArray

MU, A_LAW = "pcm_mulaw", "pcm_alaw"


@dataclass(frozen=True, slots=True)
class Heard:
    """A decoded file; `samples` is (frames, channels) between -1 and 1."""

    codec: str
    container: str
    rate_hz: int
    samples: NDArray[np.float64]
    bitrate_kbps: float

    @property
    def channels(self) -> int:
        """How many there are."""
        return int(self.samples.shape[1])

    @property
    def seconds(self) -> float:
        """How long it lasts."""
        return len(self.samples) / self.rate_hz

    @property
    def loudness(self) -> float:
        """Root mean square of all samples."""
        return float(np.sqrt(np.mean(self.samples**2)))


def hear(audio: bytes) -> Heard:
    """Decode a file of any kind that tells what it is."""
    return _decode(io.BytesIO(audio), None, {})


def hear_raw(audio: bytes, rate_hz: int, channels: int, codec: str = "pcm_s16le") -> Heard:
    """Decode samples without a header, of signed 16-bit numbers or G.711."""
    forms = {"pcm_s16le": "s16le", MU: "mulaw", A_LAW: "alaw"}
    layout = "mono" if channels == 1 else "stereo"
    return _decode(io.BytesIO(audio), forms[codec], {"sample_rate": str(rate_hz), "ch_layout": layout})


def _decode(file: io.BytesIO, form: str | None, options: dict[str, str]) -> Heard:
    size = len(file.getvalue())
    with av.open(file, "r", format=form, options=options) as container:
        stream = container.streams.audio[0]
        blocks = [frame.to_ndarray() for frame in _float_frames(container, stream)]
        codec, name, rate = str(stream.codec_context.name), str(container.format.name), int(stream.rate)
    samples = np.concatenate(blocks, axis=1).T.astype(np.float64)
    return Heard(codec, name, rate, samples, size * 8 / 1000 / (len(samples) / rate))


def _float_frames(container: av.container.InputContainer, stream: av.AudioStream) -> list[av.AudioFrame]:
    resampler = av.AudioResampler(format="fltp")
    frames = [out for frame in container.decode(stream) for out in resampler.resample(frame)]
    return frames + resampler.resample(None)


def as_wav(heard: Heard) -> bytes:
    """The samples as a file of 16 bits, for whoever does not take raw ones."""
    file = io.BytesIO()
    with wave.open(file, "wb") as written:
        written.setnchannels(heard.channels)
        written.setsampwidth(2)
        written.setframerate(heard.rate_hz)
        written.writeframes((heard.samples * 32767).astype("<i2").tobytes())
    return file.getvalue()
