"""docs/writing.md lists exactly the genres, instruments and moods that the composer knows, and its example is read."""

import re

from engine.sketch.compose import compose
from engine.sketch.genres import GENRES
from engine.sketch.style import FASTEST_BPM, MOST_TAGS, SLOWEST_BPM, read_style
from engine.sketch.vocabulary import INSTRUMENT_WORDS, INSTRUMENTS, METERS, MOODS
from tests.architecture.documents import ROOT, code, section, table_rows

TEXT = (ROOT / "docs" / "writing.md").read_text(encoding="utf-8")
PLACES = {"lead": "melody", "comp": "chords", "pad": "background", "bass": "bass", "drums": "drums"}
DEFAULT_SECONDS = 360.0


def test_the_genres_are_those_there_are() -> None:
    rows = table_rows(section(TEXT, "## Genres"), 4)
    listed = [(*code(row[0]), code(row[1]), row[2], row[3]) for row in rows]
    assert listed == [
        (
            genre.name,
            [word for word in genre.words if word != genre.name],
            f"{genre.tempo_bpm:g}",
            f"{genre.meter[0]}/{genre.meter[1]}, {genre.mode}",
        )
        for genre in GENRES
    ]


def test_the_instruments_are_those_there_are() -> None:
    rows = table_rows(section(TEXT, "## Instruments"), 3)
    listed = [(*code(row[0]), code(row[1]), row[2]) for row in rows]
    assert listed == [
        (name, [word for word in INSTRUMENT_WORDS[name] if word != name], PLACES[instrument.role])
        for name, instrument in INSTRUMENTS.items()
    ]


def test_the_moods_are_those_there_are() -> None:
    rows = table_rows(section(TEXT, "## Moods"), 3)
    listed = [(*code(row[0]), code(row[1]), row[2]) for row in rows]
    assert listed == [
        (mood, [word for word in words if word != mood], mode) for mood, (mode, words) in MOODS.items()
    ]


def test_the_bounds_of_tempo_and_tags_are_the_real_ones() -> None:
    assert f"from {SLOWEST_BPM:g} to {FASTEST_BPM:g}" in TEXT
    assert f"{MOST_TAGS} tags count" in TEXT


def test_the_metres_are_those_there_are() -> None:
    row = next(row for row in table_rows(section(TEXT, "## Style"), 3) if row[0] == "metre")
    listed = re.findall(r"`(\d+)/(\d+)`", row[1])
    assert {(int(above), int(below)) for above, below in listed} == METERS


def test_the_example_sounds_as_it_is_told() -> None:
    style, lyrics = re.findall(r"```text\n(.*?)\n```", section(TEXT, "## An example"), re.DOTALL)
    read = read_style(style)
    assert (read.tempo_bpm, read.meter, read.key, read.band.drums) == (84.0, (3, 4), "Dm", None)
    assert (read.band.lead.name, read.band.comp.name) == ("cello", "steel guitar")
    score = compose(style, lyrics, 7, DEFAULT_SECONDS)
    assert [one.name for one in score.sections] == [
        "intro",
        "verse 1",
        "chorus",
        "solo",
        "verse 2",
        "chorus",
        "outro",
    ]
