"""docs/sound.md tells just the bars that the programs hold, and can be followed by whoever has the server."""

import re
import subprocess
import sys

from bench import clients, health, sketch, speech, transcription
from bench.report import Bar
from bench.sound.__main__ import ALONE, BARS, FOLLOWED, MIXED, MOVED_SECONDS
from bench.sound.measures import ON_THE_BEAT_SECONDS
from bench.sound.songs import GENRES
from tests.architecture.documents import ROOT, section, table_rows

TEXT = (ROOT / "docs" / "sound.md").read_text(encoding="utf-8")
# A row of the page and the row of the program that it tells of.
CLAIMS = {
    "notes off the score, median": "notes off the score, median",
    "words understood, voice alone, in the worst of eight genres": f"{ALONE}, worst genre",
    "words understood, in the mix, in the worst of fifteen genres": f"{MIXED}, worst genre",
    "beats at which something begins, within 25 ms": "beats at which something begins",
    "how far from the beat, median": "how far from the beat, median",
    "bars alike, at the same place of sections of one name": "bars alike, in sections of one name",
    "chorus melody that comes back": "chorus that comes back",
    "loudness, furthest from −14 LUFS": "loudness, furthest from -14 LUFS",
    "songs nearest to their own genre, of fifteen": "songs nearest to their own genre",
    "word errors, 317 words said and written down": "word errors, said and written down",
    "word errors, 193 words that people say": "word errors, what people say",
    "beginnings of phrases off, mean": "beginnings of phrases off, mean",
}


def limit(bar: Bar | None) -> float:
    """The number of a bar."""
    assert bar is not None
    return bar.limit


def test_every_bar_of_the_program_is_told() -> None:
    rows = table_rows(TEXT.partition("\n## ")[0], 3)
    told = {CLAIMS[row[0]]: float(row[1].split()[0]) for row in rows}
    beside = {"the same, of beats moved by 50 ms": 20.0, "bars alike, in verse and chorus": 0.3}
    assert told | beside == {name: limit(bar) for name, bar in BARS.items()}
    assert "% (bar: at most 20 %)" in TEXT
    assert "(bar: at most 0.3)" in TEXT


def test_what_is_said_of_the_measures_is_so() -> None:
    assert (len(GENRES), len(FOLLOWED), ON_THE_BEAT_SECONDS, MOVED_SECONDS) == (15, 8, 0.025, 0.05)
    words = table_rows(section(TEXT, "## Words"), 6)
    assert {row[place] for row in words for place in (0, 2, 4)} == set(GENRES)


def test_the_bars_of_speed_are_those_of_the_programs() -> None:
    rows = table_rows(section(TEXT, "## Speed"), 3)
    numbers = [float(number) for row in rows for number in re.findall(r"(?<![.p\d])(\d+)(?= |$)", row[2])]
    first, song, preview = sketch.SONG_BARS.values()
    assert numbers == [
        limit(speech.BARS[speech.PRODUCT]),
        limit(speech.BARS[speech.FIRST]),
        limit(speech.BARS[speech.FIRST_OF_ALL]) / 1000,
        limit(clients.FIRST),
        limit(transcription.BARS[transcription.PRODUCT]),
        limit(transcription.BARS["word errors"]),
        limit(transcription.BARS["growth"]),
        limit(first),
        limit(song),
        2.0,
        10.0,
        limit(preview),
        *[limit(health.BARS[0.99]), limit(health.BARS[0.999])] * 2,
    ]


def test_what_the_page_says_to_install_is_pinned() -> None:
    (command,) = re.findall(r"pip install -c constraints.txt (.+)", TEXT)
    pinned = {line.partition("==")[0] for line in (ROOT / "constraints.txt").read_text().splitlines()}
    assert command.split() == ["psutil", "openai"]
    assert set(command.split()) <= pinned


def test_the_program_needs_nothing_but_the_server() -> None:
    absent = ("psutil", "pytest", "hypothesis", "av")
    blocked = "; ".join(f"sys.modules[{name!r}] = None" for name in absent)
    ran = subprocess.run(
        [sys.executable, "-c", f"import sys; {blocked}; import bench.sound.__main__"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
