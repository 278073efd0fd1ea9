"""Where somebody speaks, by silero-vad 6.2.3 (MIT), whose ONNX file lies beside this module."""

import hashlib
from importlib import resources
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.errors import CheckpointError
from engine.onnx import Network, open_network
from engine.transcription.spans import FRAME_SAMPLES, Span, SpanFinder

NAME: Final = "silero_vad_16k_sequence.onnx"
SHA256: Final = "9ccdacc4719d8aa7e45a77536bfabec45a03ba1f2fad5e241ab4060b24238a85"
_CONTEXT: Final = 64  # samples before a frame that are heard with it
_STATE: Final = 128


class SpeechDetector:
    """Owns the opened network, which keeps nothing between recordings."""

    def __init__(self) -> None:
        content = (resources.files("engine.transcription") / "silero" / NAME).read_bytes()
        if hashlib.sha256(content).hexdigest() != SHA256:
            raise CheckpointError(
                f"engine/transcription/silero/{NAME} is damaged; check this project out again."
            )
        self._session = open_network(content, 1)

    def recording(self) -> "RecordingSpeech":
        """For one recording, from its start."""
        return RecordingSpeech(self._session)


class RecordingSpeech:
    """Owner of what the network remembers of one recording, and of samples that do not fill a frame yet."""

    def __init__(self, session: Network) -> None:
        self._session = session
        self._finder = SpanFinder()
        self._hidden = np.zeros((1, 1, _STATE), np.float32)
        self._cell = np.zeros((1, 1, _STATE), np.float32)
        self._before = np.zeros(_CONTEXT, np.float32)
        self._rest = np.zeros(0, np.float32)
        self._samples = 0

    @property
    def open_since(self) -> int | None:
        """Where the speech began that has not ended yet."""
        return self._finder.open_since

    def feed(self, samples: NDArray[np.float32]) -> list[Span]:
        """Spans that have ended by the end of the next samples (N,)."""
        self._samples += len(samples)
        heard = np.concatenate([self._rest, samples])
        whole = len(heard) // FRAME_SAMPLES * FRAME_SAMPLES
        self._rest = heard[whole:].copy()
        return self._finder.feed(self.probabilities(heard[:whole].reshape(-1, FRAME_SAMPLES)).tolist())

    def finish(self) -> list[Span]:
        """Spans that end with the recording."""
        ended = []
        if len(self._rest):
            last = np.zeros((1, FRAME_SAMPLES), np.float32)
            last[0, : len(self._rest)] = self._rest
            ended = self._finder.feed(self.probabilities(last).tolist())
        span = self._finder.finish(self._samples)
        return ended if span is None else [*ended, span]

    def probabilities(self, frames: NDArray[np.float32]) -> NDArray[np.float32]:
        """How likely each of the next frames (F, 512) is speech (F,)."""
        if not len(frames):
            return np.zeros(0, np.float32)
        before = np.concatenate([self._before[None], frames[:-1, -_CONTEXT:]])
        self._before = frames[-1, -_CONTEXT:].copy()
        found, hidden, cell = self._session.run(
            ["speech_probs", "hn", "cn"],
            {"input": np.concatenate([before, frames], axis=1), "h": self._hidden, "c": self._cell},
        )
        self._hidden, self._cell = np.asarray(hidden, np.float32), np.asarray(cell, np.float32)
        return np.asarray(found, np.float32).reshape(-1)
