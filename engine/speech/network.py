"""The speech network of hibari-tts: phonemes into spectra, and spectra into sound.

Each frame of 12.5 ms is a spectrum in five parts, and a pitch beside them, so that whoever wants to sing can set the
pitch and hold frames before the sound is made. Format: hibari.dsp of hibari-tts 0.2.1 (Apache-2.0).
"""

import json
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.onnx import Network, open_network
from engine.pinned import PinnedFile

RATE_HZ: Final = 24_000
FRAME_SAMPLES: Final = 300
FRAME_SECONDS: Final = FRAME_SAMPLES / RATE_HZ
BINS: Final = 601
MOST_PHONEMES: Final = 400
VERSION: Final = "0.2.1"
WEIGHTS: Final = PinnedFile(
    "hibari-tts",
    VERSION,
    "hibari/assets/hibari.onnx",
    "5f70741d4e900f4e85d0037498736cc1b3e1b9a63a13546a5da1e63abf4fccd8",
)
ALPHABET: Final = PinnedFile(
    "hibari-tts",
    VERSION,
    "hibari/assets/vocab.json",
    "70abefbe8a1c8865e43e0a43bbdc25b91a33e4aa053479d443ccf23e20a59e5d",
)
DURATIONS: Final = "/Clip_output_0"  # inside the graph: how many steps of two frames each phoneme takes
FRAMES_A_STEP: Final = 2
_PAUSE_ID: Final = 0  # before and after what is said

Frames = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Spectra:
    """Sound as the network tells it, frame by frame; all but the pitch and the durations are (601, F), 20 Hz a row."""

    harmonic: Frames  # log magnitude of what rings at the pitch
    phase: Frames  # of the same; tanh of it is in half turns
    noise: Frames  # log magnitude of what hisses
    free: Frames  # log magnitude of what has a phase of its own
    free_phase: Frames  # radians
    pitch: Frames  # (F,) Hz; below 40 where there is no voice
    # (P + 2,) frames of the pause before, of each of the P phonemes, of the pause after
    durations: NDArray[np.int64]


class SpeechNetwork:
    """Owns the network, which is opened when it is first asked; one thread's.

    With one thread inside it says the same to the last bit on machines of any size; more make it hardly faster.
    """

    def __init__(self) -> None:
        self._session: Network | None = None
        self._alphabet: dict[str, int] = {}

    def known(self, phonemes: str) -> str:
        """Those of the phonemes that the network knows, one character each. Raises CheckpointError."""
        self._opened()
        return "".join(letter for letter in phonemes if letter in self._alphabet)

    def spectra(self, phonemes: str, speed: float = 1.0) -> Spectra:
        """What these phonemes (at most 400, all known) sound like; `speed` 0.5 to 2. Raises CheckpointError."""
        session = self._opened()
        ids = [_PAUSE_ID, *(self._alphabet[letter] for letter in phonemes), _PAUSE_ID]
        outputs = session.run(
            None, {"ids": np.array([ids], np.int64), "speed": np.array([speed], np.float32)}
        )
        *parts, pitch, durations = (np.asarray(output) for output in outputs)
        harmonic, phase, noise, free, free_phase = (part[0] for part in parts)
        frames = np.rint(durations.ravel()).astype(np.int64) * FRAMES_A_STEP
        return Spectra(harmonic, phase, noise, free, free_phase, pitch[0], frames)

    def unload(self) -> None:
        """Close the network; the next call opens it again."""
        self._session = None

    def _opened(self) -> Network:
        if self._session is None:
            self._alphabet = json.loads(ALPHABET.read())
            graph = with_output(WEIGHTS.read(), DURATIONS)
            self._session = open_network(graph, threads=1)
        return self._session


def with_output(model: bytes, value: str) -> bytes:
    """An ONNX model that also gives out one of its inner values.

    Protocol buffers that stand behind one another are merged (protobuf.dev/programming-guides/encoding, "last one
    wins"): a model (`graph` is field 7 of ModelProto) that holds only one more output (field 12 of GraphProto, whose
    name is field 1 of ValueInfoProto) is appended.
    """
    name = value.encode()
    return model + _field(7, _field(12, _field(1, name)))


def _field(number: int, content: bytes) -> bytes:
    if len(content) > 127:
        raise ValueError("A name of so many bytes needs a longer length field.")
    return bytes([number << 3 | 2, len(content)]) + content


def waveform(spectra: Spectra, draw: np.random.Generator) -> NDArray[np.float32]:
    """Sound (300 F,) at 24 kHz of the spectra; `draw` gives the noise."""
    from hibari import dsp  # imports scipy, which takes 0.3 s

    sound: NDArray[np.float32] = dsp.synth(
        spectra.harmonic, spectra.phase, spectra.noise, spectra.free, spectra.free_phase, spectra.pitch, draw
    )
    return sound
