"""How fast text is spoken, against the bare network, and how soon a long text is heard over HTTP.

`python -m bench.speech [--full]`. The text, of some two minutes, is spoken on one core in a process of its own, all that
the product does to it included: reading numbers and marks, phonemes, pauses, word times. The rival is the network and
its sound alone, given the phonemes. Both are measured in turns. Then a server is asked for the same text and its audio
followed while it is made; the time counts from the request for the speech to the first bytes of sound.
"""

import http.client
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

import numpy as np
from pydantic import JsonValue

from bench.floors import bare, random_file
from bench.processes import ROOT, Server, free_port, on_port
from bench.report import Bar, Row, begin, end, is_full, percentile
from bench.sound.texts import PARAGRAPHS, TALK
from engine.catalogue import open_catalogue
from engine.control import Uncontrolled
from engine.speech.network import MOST_PHONEMES, RATE_HZ, SpeechNetwork, waveform
from engine.speech.phonemes import Phonemiser
from engine.speech_request import read_speech

PRODUCT, BARE = "speech, text to sound", "bare network, phonemes to sound"
FIRST, FIRST_OF_ALL = "first sound over HTTP", "first sound of a fresh server"
BARS = {PRODUCT: Bar(60.0, at_most=False), FIRST: Bar(150.0), FIRST_OF_ALL: Bar(3000.0)}
WAV_HEAD = 64  # bytes; what comes after is sound
ASKED: dict[str, JsonValue] = {"text": TALK * 3, "output_format": "wav16", "seed": 7}


def product() -> Callable[[], float]:
    """A call that speaks the text as the server does; gives seconds of sound."""
    model = open_catalogue(None).speech("")
    request = read_speech({"text": TALK, "seed": 7})

    def speak() -> float:
        frames = sum(len(spoken.samples) for spoken in model.speak(request, Uncontrolled()))
        return frames / model.sample_rate_hz

    return speak


def bare_network() -> Callable[[], float]:
    """A call that makes sound of phonemes which are there already; gives seconds of sound."""
    network, phonemiser = SpeechNetwork(), Phonemiser()
    lines = [phonemes for paragraph in PARAGRAPHS for phonemes in _phonemes(phonemiser, network, paragraph)]

    def speak() -> float:
        draw = np.random.default_rng(7)
        return sum(len(waveform(network.spectra(line), draw)) for line in lines) / RATE_HZ

    return speak


def _phonemes(phonemiser: Phonemiser, network: SpeechNetwork, paragraph: str) -> Iterable[str]:
    """Phonemes of each sentence, as many as the network takes."""
    for sentence in paragraph.split(". "):
        read = "".join(one.phonemes + one.after for one in phonemiser.read(sentence))
        yield network.known(read)[:MOST_PHONEMES]


def in_turns(rounds: int) -> dict[str, list[float]]:
    """Times real time of both in each round, on one core."""
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    ways = {PRODUCT: product(), BARE: bare_network()}
    for speak in ways.values():
        speak()
    found: dict[str, list[float]] = {name: [] for name in (*ways, *map(by_processor, ways))}
    for _ in range(rounds):
        for name, speak in ways.items():
            started, began = time.perf_counter(), time.process_time()
            seconds = speak()
            found[name].append(seconds / (time.perf_counter() - started))
            found[by_processor(name)].append(seconds / (time.process_time() - began))
    return found


def by_processor(name: str) -> str:
    """The name of the same measure by the processor's time, which others on the machine hardly change."""
    return f"{name}, by processor time"


def first_sound(server: Server) -> float:
    """Milliseconds from asking for speech to its first samples; the job is cancelled then."""
    started = time.perf_counter()
    id = server.submit("/speech", ASKED)
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    try:
        connection.request("GET", f"/job?id={id}&follow=1")
        answer = connection.getresponse()
        if answer.status != http.client.OK:
            raise RuntimeError(f"following answered {answer.status}: {answer.read(200)!r}")
        answer.read(WAV_HEAD)
        taken = (time.perf_counter() - started) * 1e3
    finally:
        connection.close()
    server.ask("POST", f"/job?id={id}&cancel=1")
    _await_end(server, id)
    return taken


def _await_end(server: Server, id: str) -> None:
    while json.loads(server.ask("GET", f"/job?id={id}&wait=10")[1])["status"] in ("queued", "running"):
        continue


def over_http(rounds: int) -> dict[str, list[float]]:
    """Milliseconds until sound is heard, and until a bare server answers, in turns."""
    found: dict[str, list[float]] = {FIRST: [], FIRST_OF_ALL: [], "bare answer": []}
    with TemporaryDirectory() as folder:
        directory, port = Path(folder), free_port()
        environ = {"YUE2_RESULT_DIR": str(directory / "jobs")}
        command = ["-m", "server", "serve", "--port", str(port)]
        file = random_file(directory, 1000)
        with bare("app", file) as floor, on_port(command, environ, port) as server:
            found[FIRST_OF_ALL].append(first_sound(server))
            for _ in range(rounds):
                started = time.perf_counter()
                floor.ask("GET", "/health")
                found["bare answer"].append((time.perf_counter() - started) * 1e3)
                found[FIRST].append(first_sound(server))
    return found


def told() -> int:
    """Print the turns of this process, as JSON."""
    print(json.dumps(in_turns(int(sys.argv[2]))))
    return 0


def turns_in_a_process(rounds: int) -> dict[str, list[float]]:
    """The same in a fresh process whose libraries compute on one thread."""
    command = [sys.executable, "-m", "bench.speech", "turns", str(rounds)]
    environ = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT, env=environ)
    found: dict[str, list[float]] = json.loads(ran.stdout.splitlines()[-1])
    return found


def rows(samples: Mapping[str, Sequence[float]]) -> list[Row]:
    """The table; medians of the rounds."""
    measured = (PRODUCT, BARE, by_processor(PRODUCT), by_processor(BARE))
    speeds = [Row(name, median(samples[name]), "x real time", BARS.get(name)) for name in measured]
    delays = [
        Row(
            f"{name}, p{share * 100:g}",
            percentile(samples[name], share),
            "ms",
            BARS.get(name) if share == 0.5 else None,
        )
        for name in (FIRST, "bare answer")
        for share in (0.5, 0.95)
    ]
    share = median(samples[PRODUCT]) / median(samples[BARE])
    return [
        *speeds,
        Row("of the bare network's speed", share, "x"),
        *delays,
        Row(FIRST_OF_ALL, samples[FIRST_OF_ALL][0], "ms", BARS[FIRST_OF_ALL]),
    ]


def main() -> int:
    """Measure on one core, then over HTTP."""
    rounds = 15 if is_full(__doc__ or "") else 5
    report = begin("speech", "one core; medians of the rounds")
    samples = {**turns_in_a_process(rounds), **over_http(rounds)}
    return report.conclude(rows(samples), samples)


if __name__ == "__main__":
    end(told if sys.argv[1:2] == ["turns"] else main)
