"""The speech network opened from within: durations, pitch and energy are put in instead of being guessed.

Inside the graph of hibari-tts 0.2.1 three values part the reading of the text from the making of the sound:
`/Clip_output_0` (steps of two frames a phoneme), `/Relu_output_0` (pitch) and `/Mul_62_output_0` (energy). Whoever
reads them is made to read an input of the graph instead.
"""

import json
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.onnx import Network, open_network
from engine.speech.network import ALPHABET, FRAMES_A_STEP, WEIGHTS, Spectra, with_output

Curve = NDArray[np.float32]
Steps = NDArray[np.int64]

_DURATIONS, _PITCH, _ENERGY = "/Clip_output_0", "/Relu_output_0", "/Mul_62_output_0"
_GIVEN: Final = {
    _DURATIONS: ("/Clip_gotten_0", 1),
    _PITCH: ("/Relu_gotten_0", 2),
    _ENERGY: ("/Mul_62_gotten_0", 2),
}  # the input that takes a value's place, as long a name, and how many dimensions it has
_FLOAT: Final = b"\x08\x01"  # TensorProto.FLOAT, field 1 of TypeProto.Tensor
_PAUSE_ID: Final = 0
_PARTS: Final = ("lh", "theta", "ln", "lr", "phi")


@dataclass(frozen=True, slots=True)
class Reading:
    """How the network would say some phonemes."""

    steps: Steps  # (P + 2,) of 25 ms: the pause before, each of the P phonemes, the pause after
    pitch: Curve  # (F,) Hz, F twice the sum of the steps; 40 and less where there is no voice
    energy: Curve  # (F,) about -9 in silence to 8 in loud vowels


class SungNetwork:
    """Owns the network, which is opened when it is first asked; one thread's."""

    def __init__(self) -> None:
        self._session: Network | None = None
        self._alphabet: dict[str, int] = {}

    def known(self, phonemes: str) -> str:
        """Those of the phonemes that the network knows, one character each. Raises CheckpointError."""
        self._opened()
        return "".join(letter for letter in phonemes if letter in self._alphabet)

    def read(self, phonemes: str) -> Reading:
        """How long, high and loud these phonemes (at most 400, all known) would be said. Raises CheckpointError."""
        durations = self._run((_DURATIONS,), phonemes, np.ones(1, np.int64))[0]
        steps = np.rint(durations.ravel()).astype(np.int64)
        pitch, energy = self._run(("f0", _ENERGY), phonemes, steps)
        return Reading(steps, pitch[0], energy[0])

    def spectra(self, phonemes: str, steps: Steps, pitch: Curve, energy: Curve) -> Spectra:
        """What they sound like with these steps (P + 2,), pitch and energy (both (2 sum(steps),)). Raises CheckpointError."""
        parts = self._run(_PARTS, phonemes, steps, pitch, energy)
        harmonic, phase, noise, free, free_phase = (part[0] for part in parts)
        return Spectra(harmonic, phase, noise, free, free_phase, pitch, steps * FRAMES_A_STEP)

    def unload(self) -> None:
        """Close the network; the next call opens it again."""
        self._session = None

    def _run(
        self,
        outputs: tuple[str, ...],
        phonemes: str,
        steps: Steps,
        pitch: Curve | None = None,
        energy: Curve | None = None,
    ) -> list[Curve]:
        session = self._opened()
        still = np.zeros(FRAMES_A_STEP * int(steps.sum()), np.float32)
        given = {
            _DURATIONS: steps.astype(np.float32),
            _PITCH: np.maximum(still if pitch is None else pitch, 0)[None].astype(np.float32),
            _ENERGY: (still if energy is None else energy)[None].astype(np.float32),
        }
        ids = [_PAUSE_ID, *(self._alphabet[letter] for letter in phonemes), _PAUSE_ID]
        feed: dict[str, NDArray[np.generic]] = {
            "ids": np.array([ids], np.int64),
            "speed": np.ones(1, np.float32),
        }
        feed |= {_GIVEN[value][0]: curve for value, curve in given.items()}
        return [np.asarray(output, np.float32) for output in session.run(list(outputs), feed)]

    def _opened(self) -> Network:
        if self._session is None:
            self._alphabet = json.loads(ALPHABET.read())
            graph = WEIGHTS.read()
            for value, (name, dimensions) in _GIVEN.items():
                graph = with_input(graph, value, name, dimensions)
            for value in (_DURATIONS, _ENERGY):
                graph = with_output(graph, value)
            self._session = open_network(graph, threads=1)
        return self._session


def with_input(model: bytes, value: str, name: str, dimensions: int) -> bytes:
    """An ONNX model whose nodes take the float input `name` where they took one of its inner values.

    In protocol buffers (protobuf.dev/programming-guides/encoding) an input of a node is field 1 of NodeProto, an output
    field 2; as `name` has the length of `value`, it can be written over it. The input is field 11 of GraphProto (field 7
    of ModelProto), which is merged with the graph that is there.
    """
    if len(name) != len(value):
        raise ValueError("Only a name of the same length can be written over another.")
    model = model.replace(_field(1, value.encode()), _field(1, name.encode()))
    sizes = b"".join(_field(1, _field(2, f"{name[1:5]}{axis}".encode())) for axis in range(dimensions))
    tensor = _field(1, _FLOAT + _field(2, sizes))
    return model + _field(7, _field(11, _field(1, name.encode()) + _field(2, tensor)))


def _field(number: int, content: bytes) -> bytes:
    if len(content) > 127:
        raise ValueError("A name of so many bytes needs a longer length field.")
    return bytes([number << 3 | 2, len(content)]) + content
