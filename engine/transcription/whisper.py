"""Whisper by CTranslate2: sound into tokens, and when each is said."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import ctranslate2
import numpy as np
from numpy.typing import NDArray

from engine.errors import CheckpointError, DeviceError, OutOfMemory
from engine.transcription.features import FRAMES_A_SECOND, RATE_HZ, log_mel
from engine.transcription.tokens import TokenText
from engine.transcription.weights import Weights

BEAM: Final = 5
DRAWS: Final = 5  # of which the likeliest is kept
MOST_TOKENS: Final = 448  # places of the decoder, prompt included
_SEED: Final = 0


@dataclass(frozen=True, slots=True)
class Attempt:
    """Tokens, timestamps among them, found for one window at one temperature."""

    tokens: tuple[int, ...]
    temperature: float
    average_log_probability: float  # of a token, the end among them
    no_speech_probability: float


class Encoded:
    """A window as the encoder left it; lives where the model does."""

    def __init__(self, states: ctranslate2.StorageView, frames: int) -> None:
        self.states = states  # (1, 1500, D)
        self.frames = frames  # of 10 ms, without the silence after them


class Whisper:
    """Owns one opened model, on "cpu", "cuda" or "cuda:N". One thread's."""

    def __init__(self, weights: Weights, device: str, compute_type: str, threads: int) -> None:
        folder = weights.located()
        self._folder = str(folder)
        kind, _, index = device.partition(":")
        self._options = {
            "device": kind,
            "device_index": int(index or 0),
            "compute_type": compute_type,
            "intra_threads": threads,
        }
        self._drawn = False
        self._model = self._opened()
        self.text = TokenText(folder / "tokenizer.json")

    def _opened(self) -> ctranslate2.models.Whisper:
        try:
            return ctranslate2.models.Whisper(self._folder, **self._options)
        except (RuntimeError, ValueError) as error:
            raise _reason(error, self._folder) from error

    def begin(self) -> None:
        """Forget what earlier recordings have drawn, so that the same one is written down alike.

        CTranslate2 seeds the draws of a thread once in its life, so the model is opened again where it has drawn.
        """
        if self._drawn:
            self._model = self._opened()
            self._drawn = False

    def heard(self, samples: NDArray[np.float32]) -> Encoded:
        """At most 30 s of samples (N,) at 16 kHz, encoded. Raises OutOfMemory."""
        features = log_mel(samples, int(self._model.n_mels))
        view = ctranslate2.StorageView.from_array(np.ascontiguousarray(features[None]))
        with _told():
            return Encoded(self._model.encode(view), len(samples) * FRAMES_A_SECOND // RATE_HZ)

    def languages(self, encoded: Encoded) -> dict[str, float]:
        """Probability of each language, by code."""
        with _told():
            found = self._model.detect_language(encoded.states)[0]
        return {token.strip("<|>"): float(probability) for token, probability in found}

    def attempt(
        self, encoded: Encoded, prompt: list[int], temperature: float, no_repeat: int = 0, beam: int = BEAM
    ) -> Attempt:
        """What is said, searched for at temperature 0, drawn above; `no_repeat` tokens in a row are said once.

        A `beam` of 1 is greedy.
        """
        search = self._drawing(temperature) if temperature > 0 else {"beam_size": beam, "patience": 1}
        with _told():
            found = self._model.generate(
                encoded.states,
                [prompt],
                max_length=MOST_TOKENS,
                return_scores=True,
                return_no_speech_prob=True,
                no_repeat_ngram_size=no_repeat,
                **search,
            )[0]
        tokens = tuple(int(token) for token in found.sequences_ids[0])
        average = float(found.scores[0]) * len(tokens) / (len(tokens) + 1)
        return Attempt(tokens, temperature, average, float(found.no_speech_prob))

    def _drawing(self, temperature: float) -> dict[str, float]:
        if not self._drawn:
            ctranslate2.set_random_seed(_SEED)
        self._drawn = True
        return {
            "beam_size": 1,
            "num_hypotheses": DRAWS,
            "sampling_topk": 0,
            "sampling_temperature": temperature,
        }

    def pairs(self, encoded: Encoded, opening: list[int], tokens: Sequence[int]) -> list[tuple[int, int]]:
        """The path of (token, tick of 20 ms) that aligns tokens of text with the window."""
        with _told():
            found = self._model.align(encoded.states, opening, [list(tokens)], encoded.frames)[0]
        return [(int(token), int(tick)) for token, tick in found.alignments]


@contextmanager
def _told() -> Iterator[None]:
    """Turns CTranslate2's words for what is wrong with the device into ours."""
    try:
        yield
    except RuntimeError as error:
        fault = _device_fault(str(error))
        if fault is None:
            raise
        raise fault from error


def _device_fault(words: str) -> DeviceError | OutOfMemory | None:
    """What is wrong with the device, if it is to blame."""
    lower = words.lower()
    if "out of memory" in lower:
        return OutOfMemory(
            "There is too little memory for the transcription model; free some, or choose a smaller model."
        )
    if any(name in lower for name in ("cuda", "cublas", "cudnn", "compute type")):
        return DeviceError(
            f"The transcription model cannot run on the device: {words}; see to the device, or restart the server where it "
            "ran before."
        )
    return None


def _reason(error: Exception, folder: str) -> CheckpointError | DeviceError | OutOfMemory:
    fault = _device_fault(str(error))
    return fault or CheckpointError(
        f"CTranslate2 cannot open the model in {folder}: {error}; fetch it again."
    )
