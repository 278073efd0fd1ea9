"""How fast speech is written down, against the least that could do it, how well, and in how much memory.

`python -m bench.transcription [--full]`. Works on two cores, in a process of its own, on two minutes of speech said by
the built-in voice. The rival is the same network, asked greedily for each 30 s and nothing else: no search, no word
times, no check for silence. Both are measured in turns. Memory is weighed in processes that write down a short and a
long file; with `--full` the long one lasts an hour.
"""

import io
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import ctranslate2
import numpy as np
import soundfile
import soxr
from numpy.typing import NDArray

from bench.processes import MEGABYTE, ROOT
from bench.report import Bar, Row, begin, end, is_full
from bench.sound.matching import match
from bench.sound.texts import TALK
from engine.catalogue import open_catalogue
from engine.control import Uncontrolled
from engine.speech_request import read_speech
from engine.transcription.features import RATE_HZ, WINDOW_SAMPLES, log_mel
from engine.transcription.pipeline import WhisperTranscription
from engine.transcription.tokens import TokenText
from engine.transcription.weights import packaged
from engine.transcription_request import TranscriptionRequest

CORES = 2
STATUS = Path("/proc/self/status")
SHORT_SECONDS, LONG_SECONDS, HOUR_SECONDS = 60.0, 300.0, 3600.0
PRODUCT, BARE = "transcription with word times", "bare greedy network"
BARS = {PRODUCT: Bar(12.0, at_most=False), "word errors": Bar(3.0), "growth": Bar(30.0)}


def spoken() -> tuple[NDArray[np.float32], int]:
    """Two minutes of speech (N,), and its rate."""
    model = open_catalogue(None).speech("")
    request = read_speech({"text": TALK, "seed": 7})
    parts = [sentence.samples[:, 0] for sentence in model.speak(request, Uncontrolled())]
    return np.concatenate(parts), model.sample_rate_hz


class Bare:
    """The packaged network, asked greedily window by window; owner of that network."""

    def __init__(self, threads: int) -> None:
        folder = packaged().located()
        self._model = ctranslate2.models.Whisper(
            str(folder), device="cpu", compute_type="int8", intra_threads=threads
        )
        self._text = TokenText(folder / "tokenizer.json")
        self._prompt = [self._text.special(name) for name in ("<|startoftranscript|>", "<|notimestamps|>")]

    def write_down(self, sound: NDArray[np.float32]) -> str:
        """What samples (N,) at 16 kHz say."""
        return " ".join(
            self._window(sound[at : at + WINDOW_SAMPLES]) for at in range(0, len(sound), WINDOW_SAMPLES)
        )

    def _window(self, samples: NDArray[np.float32]) -> str:
        features = np.ascontiguousarray(log_mel(samples, int(self._model.n_mels))[None])
        view = ctranslate2.StorageView.from_array(features)
        found = self._model.generate(self._model.encode(view), [self._prompt], beam_size=1)[0]
        return self._text.text(found.sequences_ids[0])


def in_turns(rounds: int) -> dict[str, list[float]]:
    """Times real time of product and rival in each round, and their word errors in percent."""
    os.sched_setaffinity(0, set(list(os.sched_getaffinity(0))[:CORES]))
    sound, rate = spoken()
    seconds, file = len(sound) / rate, io.BytesIO()
    soundfile.write(file, sound, rate, format="WAV", subtype="PCM_16")
    listened = np.asarray(soxr.resample(sound, rate, RATE_HZ), np.float32)
    product, bare = WhisperTranscription(device="cpu", threads=CORES), Bare(CORES)
    ways: dict[str, Callable[[], str]] = {
        PRODUCT: lambda: product.transcribe(file, TranscriptionRequest(), Uncontrolled()).text,
        BARE: lambda: bare.write_down(listened),
    }
    found: dict[str, list[float]] = {"length": [seconds]}
    for name, way in ways.items():
        found[f"{name}, word errors"] = [100 * match(TALK, way()).error]
    for _ in range(rounds):
        for name, way in ways.items():
            started, began = time.perf_counter(), time.process_time()
            way()
            taken, worked = time.perf_counter() - started, (time.process_time() - began) / CORES
            found.setdefault(name, []).append(seconds / taken)
            found.setdefault(by_processor(name), []).append(seconds / worked)
    return found


def by_processor(name: str) -> str:
    """The name of the same measure by the cores' time, which others on the machine hardly change."""
    return f"{name}, by processor time"


def weigh(path: Path) -> dict[str, float]:
    """MB above import of writing down a file, and how often faster than it lasts."""
    imported = _resident("VmRSS")
    started = time.perf_counter()
    with path.open("rb") as file:
        heard = WhisperTranscription(device="cpu", threads=CORES).transcribe(
            file, TranscriptionRequest(), Uncontrolled()
        )
    taken = time.perf_counter() - started
    return {"weight": _resident("VmHWM") - imported, "speed": heard.seconds / taken}


def _resident(name: str) -> float:
    lines = STATUS.read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:")) * 1024 / MEGABYTE


def told() -> int:
    """Print what the command line asks of this process, as JSON."""
    kind, argument = sys.argv[1:3]
    found: object = in_turns(int(argument)) if kind == "turns" else weigh(Path(argument))
    print(json.dumps(found))
    return 0


def in_a_process(kind: str, argument: str) -> dict[str, list[float] | float]:
    """The same in a fresh process."""
    command = [sys.executable, "-m", "bench.transcription", kind, argument]
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT)
    found: dict[str, list[float] | float] = json.loads(ran.stdout.splitlines()[-1])
    return found


def write_long(path: Path, sound: NDArray[np.float32], rate: int, seconds: float) -> None:
    """A file of so many seconds in which the same is said again and again."""
    left = int(seconds * rate)
    with soundfile.SoundFile(path, "w", rate, 1, "PCM_16") as file:
        while left > 0:
            file.write(sound[:left])
            left -= len(sound)


def weights(long_seconds: float) -> dict[str, float]:
    """MB of a short and of a long file, and how fast the long one went."""
    found: dict[str, float] = {}
    with TemporaryDirectory() as folder:
        sound, rate = spoken()
        for name, seconds in (("short", SHORT_SECONDS), ("long", long_seconds)):
            path = Path(folder) / f"{name}.wav"
            write_long(path, sound, rate, seconds)
            for what, value in in_a_process("weigh", str(path)).items():
                found[f"{name} {what}"] = _number(value)
    return found


def _number(value: list[float] | float) -> float:
    return value if isinstance(value, int | float) else median(value)


def main() -> int:
    """Measure in turns, then weigh."""
    full = is_full(__doc__ or "")
    report = begin("transcription", f"{CORES} cores; medians of the rounds")
    turned = in_a_process("turns", str(7 if full else 3))
    samples = {name: value for name, value in turned.items() if isinstance(value, list)}
    weighed = weights(HOUR_SECONDS if full else LONG_SECONDS)
    return report.conclude(list(rows(samples, weighed)), samples | {k: [v] for k, v in weighed.items()})


def rows(samples: dict[str, list[float]], weighed: dict[str, float]) -> Iterable[Row]:
    """The table."""
    yield Row("length of the recording", samples["length"][0], "s")
    for name in (PRODUCT, BARE, by_processor(PRODUCT), by_processor(BARE)):
        yield Row(name, median(samples[name]), "x real time", BARS.get(name))
    yield Row("of the bare network's speed", median(samples[PRODUCT]) / median(samples[BARE]), "x")
    yield Row("word errors", samples[f"{PRODUCT}, word errors"][0], "%", BARS["word errors"])
    yield Row("word errors of the bare network", samples[f"{BARE}, word errors"][0], "%")
    yield Row("weight above import, one minute", weighed["short weight"], "MB")
    yield Row("weight above import, the long file", weighed["long weight"], "MB")
    growth = weighed["long weight"] - weighed["short weight"]
    yield Row("growth with the length", growth, "MB", BARS["growth"])
    yield Row("speed on the long file", weighed["long speed"], "x real time")


if __name__ == "__main__":
    end(told if sys.argv[1:2] in (["turns"], ["weigh"]) else main)
