"""How long a sung sketch takes and weighs, and how soon a fresh server sings.

`python -m bench.sketch [--full]`. Songs are made in processes of their own (`python -m bench.sketch song`), so that
each begins as light as a server does. Times are the best of the rounds, weight is the largest; an edit counts with the
median of its kind in a round.
"""

import io
import json
import re
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TypeVar

import psutil
from pydantic import JsonValue

from bench.floors import bare, copy_rate, random_file
from bench.processes import MEGABYTE, ROOT, free_port, on_port
from bench.report import Bar, Row, begin, end, is_full
from engine.audio import AudioForm, encode
from engine.control import Uncontrolled
from engine.request import read_sketch, read_song
from engine.score import parse, write
from engine.score.model import Score
from engine.sketch.performance import SINGING
from engine.sketch.pipeline import COMPOSING, SketchModel
from engine.song_model import Track

Made = TypeVar("Made")
FIRST_BAR = 5
PREVIEWED_BARS = 16
EDITS = 5
MP3_BITRATE = 128
SONG: dict[str, JsonValue] = {
    "style": "folk pop, 100 BPM, acoustic guitar, piano, strings",
    "lyrics": "[Verse]\nThe river runs below the hill\nThe mill is old the wheel is still\n"
    "[Chorus]\nCarry me home over the water\nCarry me home again\n" * 8,
    "duration": 180,
    "lm_seed": 7,
    "seed": 7,
}
SHORT_SONG: dict[str, JsonValue] = {**SONG, "duration": 30}
WEIGHT = "weight above import, mp3 included"
SONG_BARS = {
    "song of three minutes with its mp3": Bar(10.0),
    WEIGHT: Bar(500.0),
    "preview of 16 bars, a note edited": Bar(1.0),
}
UNITS = {WEIGHT: "MB", "length of the song": "s of audio"}


class Stages(Uncontrolled):
    """Notes when each phase was last heard of; owner of these instants, on `time.perf_counter`."""

    def __init__(self) -> None:
        self.ended_at: dict[str, float] = {}

    def report(self, phase: str, fraction: float, **counters: int) -> None:
        """Keep the end of the phase."""
        self.ended_at[phase] = time.perf_counter()


def song() -> dict[str, float]:
    """Make one song and preview edits of it; seconds and MB of each, measured in this process."""
    imported = psutil.Process().memory_info().rss
    model, stages, mp3 = SketchModel(), Stages(), io.BytesIO()
    started = time.perf_counter()
    track = next(iter(model.generate(read_song(SONG), stages)))
    rendered_at = time.perf_counter()
    encode(track.samples, track.sample_rate_hz, AudioForm("mp3", MP3_BITRATE), mp3)
    encoded_at = time.perf_counter()
    composed_at, sung_at = stages.ended_at[COMPOSING], stages.ended_at[SINGING]
    heaviest = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {
        "song of three minutes with its mp3": encoded_at - started,
        "of it composing": composed_at - started,
        "of it singing": sung_at - composed_at,
        "of it rendering": rendered_at - sung_at,
        "of it encoding": encoded_at - rendered_at,
        "length of the song": track.seconds,
        WEIGHT: (heaviest - imported) / MEGABYTE,
        **_previews(model, track),
    }


def _previews(model: SketchModel, track: Track) -> dict[str, float]:
    """Seconds of previewing 16 bars: as they are, with one note edited (the median edit), in another tempo."""

    def preview(text: str) -> float:
        asked = {**track.replay, "abc": text, "from_bar": FIRST_BAR, "bars": PREVIEWED_BARS}
        return _timed(lambda: model.preview(read_sketch(asked), Uncontrolled()))[0]

    abc = str(track.replay["abc"])
    return {
        "first preview of 16 bars": preview(abc),
        "preview of 16 bars, a note edited": median(preview(text) for text in edits(abc)),
        "preview of 16 bars, another tempo": preview(in_another_tempo(abc)),
    }


def edits(abc: str) -> list[str]:
    """Scores with one note of a previewed bar an octave higher, each in another bar; ValueError where too few sound."""
    score = parse(abc)
    edited = list(islice((write(_raised(score, number)) for number in _sounding(score)), EDITS))
    if len(edited) < EDITS:
        raise ValueError(f"fewer than {EDITS} of the previewed bars have a note to edit")
    return edited


def in_another_tempo(abc: str) -> str:
    """The score at 107 beats a minute."""
    return re.sub(r"(?m)^(Q:.*=)\d+", r"\g<1>107", abc)


def _sounding(score: Score) -> Iterator[int]:
    """Indices of the previewed bars in which the first voice has a note."""
    first = FIRST_BAR - 1
    bars = score.voices[0].bars[first : first + PREVIEWED_BARS]
    return (first + nth for nth, bar in enumerate(bars) if any(note.pitches for note in bar.notes))


def _raised(score: Score, number: int) -> Score:
    """The score with the first note of a bar of the first voice an octave higher; the index is from 0."""
    voice = score.voices[0]
    notes = list(voice.bars[number].notes)
    place = next(place for place, note in enumerate(notes) if note.pitches)
    pitches = tuple(replace(pitch, octave=pitch.octave + 1) for pitch in notes[place].pitches)
    notes[place] = replace(notes[place], pitches=pitches)
    bars = list(voice.bars)
    bars[number] = replace(bars[number], notes=tuple(notes))
    return replace(score, voices=(replace(voice, bars=tuple(bars)), *score.voices[1:]))


def told_song() -> int:
    """Print what making one song took, as JSON."""
    print(json.dumps(song()))
    return 0


def song_in_a_process() -> dict[str, float]:
    """The same, in a fresh process."""
    command = [sys.executable, "-m", "bench.sketch", "song"]
    ran = subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT)
    return {name: float(value) for name, value in json.loads(ran.stdout).items()}


def start_and_sing(directory: Path) -> tuple[float, float]:
    """Seconds from a server's start to its first answer, and from then to the first song being there."""
    port = free_port()
    environ = {"YUE2_RESULT_DIR": str(directory / "jobs")}
    started = time.perf_counter()
    with on_port(["-m", "server", "serve", "--port", str(port)], environ, port) as server:
        answered = time.perf_counter()
        server.finish(server.submit("/synth", SHORT_SONG))
        return answered - started, time.perf_counter() - answered


def bare_start(file: Path) -> float:
    """Seconds from the start of a bare server to its first answer."""
    started = time.perf_counter()
    with bare("app", file):
        return time.perf_counter() - started


def main() -> int:
    """Measure in turns: copying memory, a song, a bare start, the product's start and first song."""
    rounds = 5 if is_full(__doc__ or "") else 2
    report = begin("sketch", "times the best of the rounds, weight the largest")
    songs: list[dict[str, float]] = []
    others: dict[str, list[float]] = {
        "memory copy": [],
        "bare server's first answer": [],
        "first answer": [],
        "first song of 30 s": [],
    }
    with TemporaryDirectory() as folder:
        file = random_file(Path(folder), 1000)
        for turn in range(rounds):
            others["memory copy"].append(copy_rate())
            songs.append(song_in_a_process())
            others["bare server's first answer"].append(bare_start(file))
            answered, sung = start_and_sing(Path(folder) / str(turn))
            others["first answer"].append(answered)
            others["first song of 30 s"].append(sung)
    samples = {name: [one[name] for one in songs] for name in songs[0]}
    rows = [song_row(name, values) for name, values in samples.items()]
    return report.conclude([*rows, *_other_rows(others)], {**samples, **others})


def song_row(name: str, values: Sequence[float]) -> Row:
    """The best time, or the largest weight: memory must suffice every time."""
    value = max(values) if name == WEIGHT else min(values)
    return Row(name, value, UNITS.get(name, "s"), SONG_BARS.get(name))


def _other_rows(others: dict[str, list[float]]) -> list[Row]:
    bars = {"first answer": Bar(2.0), "first song of 30 s": Bar(10.0)}
    rows = [Row("memory copy", max(others["memory copy"]), "MB/s")]
    return rows + [
        Row(name, min(values), "s", bars.get(name))
        for name, values in others.items()
        if name != "memory copy"
    ]


def _timed(call: Callable[[], Made]) -> tuple[float, Made]:
    started = time.perf_counter()
    made = call()
    return time.perf_counter() - started, made


if __name__ == "__main__":
    end(told_song if sys.argv[1:] == ["song"] else main)
