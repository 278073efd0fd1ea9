"""docs/writing.md lists exactly the genres, instruments and moods that the composer knows, and its example is read."""

import re

import pytest

from engine.request import CODES_PER_SECOND
from engine.sampling_request import AbcSampling
from engine.score import timeline
from engine.sketch.compose import compose
from engine.sketch.genres import GENRES
from engine.sketch.lyrics import read_lyrics
from engine.sketch.style import FASTEST_BPM, MOST_TAGS, SLOWEST_BPM, read_style
from engine.sketch.vocabulary import INSTRUMENT_WORDS, INSTRUMENTS, METERS, MOODS
from engine.yue2.vae.windows import decoded_samples
from tests.architecture.documents import ROOT, code, section, table_rows

TEXT = (ROOT / "docs" / "writing.md").read_text(encoding="utf-8")
PLACES = {"lead": "melody", "comp": "chords", "pad": "background", "bass": "bass", "drums": "drums"}
DEFAULT_SECONDS = 360.0
SHORT = "[Verse]\nRain on the window\nLight in the hall\n[Chorus]\nCarry me home\nCarry me home again\n"


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


def test_headings_repeat_and_open_sections_as_told() -> None:
    lyrics = section(TEXT, "## Lyrics")
    assert all(f"`{mark}`" in lyrics for mark in ("[Chorus x2]", "[Chorus] x2", "(x2)", "Verse 1:"))
    for text in ("[Chorus x2]\nHome", "[Chorus] x2\nHome", "[Chorus]\n(x2)\nHome"):
        assert [one.name for one in read_lyrics(text)] == ["chorus", "chorus"]
    assert [one.name for one in read_lyrics("Verse 1:\nHome\n\nChorus:\nHome")] == ["verse 1", "chorus"]


def test_words_go_last_as_told() -> None:
    lyrics = "[Intro]\n[Verse]\nRain on the window\nLight in the hall\n[Solo]\n[Chorus]\nCarry me home\n"
    names = [one.name for one in compose("folk", lyrics, 7, 15.0).sections]
    assert names == ["verse", "chorus"]


@pytest.mark.parametrize(("row", "lyrics"), [(0, SHORT), (1, SHORT), (2, ""), (3, "")])
def test_songs_are_as_long_as_told(row: int, lyrics: str) -> None:
    _, duration, length = table_rows(section(TEXT, "## How long songs get"), 3)[row]
    (minutes, seconds), *_ = re.findall(r"(?:(\d+) min )?(\d+) s", length)
    sung = timeline(compose("folk", lyrics, 7, float(duration))).duration
    assert sung == pytest.approx(60 * int(minutes or 0) + int(seconds), abs=1)


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
    (seconds,) = re.findall(r"It lasts (\d+) seconds", TEXT)
    assert timeline(score).duration == pytest.approx(int(seconds), abs=1)


def test_a_song_of_four_sections_is_as_long_as_told() -> None:
    section_of_four = "Carry me home again\n" * 4
    lyrics = f"[Verse]\n{section_of_four}[Chorus]\n{section_of_four}" * 2
    told = re.search(r"four lines takes about (\d+)\s+seconds", TEXT)
    assert told is not None
    assert timeline(compose("folk, 96 BPM", lyrics, 7, DEFAULT_SECONDS)).duration == pytest.approx(
        int(told[1]), abs=5
    )


def test_the_bound_of_a_score_is_the_real_one() -> None:
    most = AbcSampling().max_tokens
    assert f"`abc_sampling.max_tokens` ({most} unless" in TEXT
    assert 2.5 < most / CODES_PER_SECOND / 60 < 3  # almost three minutes


def test_a_code_and_what_the_decoder_leaves_out_last_as_told() -> None:
    assert f"stands for {1000 // CODES_PER_SECOND} milliseconds" in TEXT
    assert decoded_samples(3, (2, 2, 4, 4, 5, 6)) == 3 * 1920 - 64
    assert "gives 64\nsamples less" in TEXT
