"""The guides: every example is understood by the engine, and every word listed is one of its own."""

import json
import re
import tomllib
from pathlib import PurePosixPath

import pytest

from engine.control import Uncontrolled
from engine.request import read_sketch, read_song
from engine.score import parse, timeline, validate, write
from engine.score.fields import TEMPO_WORDS
from engine.sketch.compose import compose, left_out
from engine.sketch.genres import GENRES
from engine.sketch.lyrics import Line, read_lyrics
from engine.sketch.melody import RANGES
from engine.sketch.pipeline import SketchModel
from engine.sketch.style import FASTEST_BPM, SLOWEST_BPM, Style, read_style
from engine.sketch.vocabulary import (
    INSTRUMENT_WORDS,
    INSTRUMENTAL_WORDS,
    INSTRUMENTS,
    METER_WORDS,
    METERS,
    MOODS,
    REGISTER_WORDS,
    TEMPO_FACTORS,
    Register,
)
from server.agents.arguments import read_arguments
from server.agents.guides import GUIDES, guide_text
from tests.architecture.documents import ROOT, fenced_blocks, section
from tests.server.agents.examples import unknown_names

MOST_BYTES = 8 * 1024
DEFAULT_SECONDS = 360.0
TOPICS = [guide.topic for guide in GUIDES]
LYRICS, STYLE, SCORE = (guide_text(topic) for topic in ("lyrics", "style", "score"))
LYRIC_EXAMPLES = [*fenced_blocks(LYRICS, "lyrics"), *fenced_blocks(SCORE, "lyrics")]
STYLE_EXAMPLES = fenced_blocks(STYLE, "style")[0].splitlines()
PLACES = {"lead": "melody", "comp": "chords", "pad": "background", "bass": "bass", "drums": "drums"}
OTHER_STYLES = ("", "metal", "male", "happy", "strings")  # a tag that changes none of them says nothing


def syllables(line: Line) -> int:
    return len(line.syllables)


@pytest.mark.parametrize("topic", TOPICS)
def test_a_guide_is_short_and_names_only_what_there_is(topic: str) -> None:
    text = guide_text(topic)
    assert text.startswith("# ")
    assert "<!--" not in text
    assert len(text.encode()) <= MOST_BYTES
    assert unknown_names(text) == set()


def test_guides_have_addresses_and_topics_of_their_own() -> None:
    assert [guide.uri for guide in GUIDES] == [
        "yue2://guide/lyrics",
        "yue2://guide/style-vocabulary",
        "yue2://guide/score-dialect",
    ]
    assert all(guide.uri == f"yue2://guide/{guide.name}" for guide in GUIDES)


def test_a_topic_without_a_guide_is_no_file_to_be_read() -> None:
    with pytest.raises(KeyError, match="etc"):
        guide_text("../../etc")


def test_the_guides_are_in_the_wheel() -> None:
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"][
        "server"
    ]
    for topic in TOPICS:
        path = PurePosixPath("agents/guides", f"{topic}.md")
        assert (ROOT / "server" / path).is_file()
        assert any(path.match(pattern) for pattern in patterns)


@pytest.mark.parametrize("text", [LYRICS, SCORE], ids=["lyrics", "score"])
def test_every_call_shown_is_understood(text: str) -> None:
    (call,) = map(json.loads, fenced_blocks(text, "json"))
    asked = read_arguments(call["tool"], call["arguments"])
    read = read_sketch if call["tool"] == "preview_score" else read_song
    request = read(dict(asked.payload))
    assert request.abc or left_out(request.style, request.lyrics, request.duration)[0] == 0


@pytest.mark.parametrize("lyrics", LYRIC_EXAMPLES, ids=range(len(LYRIC_EXAMPLES)))
def test_lyrics_shown_are_sung_whole_in_the_sections_named(lyrics: str) -> None:
    missing, lines, _ = left_out("folk", lyrics, DEFAULT_SECONDS)
    assert (missing, lines > 0) == (0, True)
    headings = [name.lower() for name in re.findall(r"\[([\w\- ]+?)(?:,.*)?\]", lyrics)]
    named = [name.name for name in compose("folk", lyrics, 7, DEFAULT_SECONDS).sections]
    spelled = [
        name for heading in headings for name in [heading.removesuffix(" x2")] * (1 + (" x2" in heading))
    ]
    assert [name for name in named if name in spelled] == spelled


@pytest.mark.parametrize("lyrics", LYRIC_EXAMPLES, ids=range(len(LYRIC_EXAMPLES)))
def test_lyrics_shown_keep_to_the_lengths_that_they_advise(lyrics: str) -> None:
    assert "four to eight syllables" in LYRICS
    sections = read_lyrics(lyrics)
    assert all(4 <= syllables(line) <= 8 for one in sections for line in one.lines)
    verses = [[syllables(line) for line in one.lines] for one in sections if one.kind == "verse"]
    assert all(verse == verses[0] for verse in verses)


def test_what_the_band_alone_reads_in_headings_is_so() -> None:
    timed = compose("folk", "[Verse, 24 s]\nRain upon the roof tonight", 7, DEFAULT_SECONDS)
    assert timeline(timed).duration == pytest.approx(24, abs=1.5)
    assert [one.name for one in read_lyrics("[Chorus x2]\nLet it rain")] == ["chorus", "chorus"]
    assert syllables(read_lyrics("3 AM")[0].lines[0]) == 3


def test_songs_are_about_as_long_as_told() -> None:
    four = "Carry me home again\n" * 4
    song = compose("folk, 96 BPM", f"[Verse]\n{four}[Chorus]\n{four}" * 2, 7, DEFAULT_SECONDS)
    assert "about 90 seconds" in LYRICS
    assert timeline(song).duration == pytest.approx(90, abs=5)
    assert "no lyrics are about two minutes" in LYRICS
    assert timeline(compose("folk, 96 BPM", "", 7, DEFAULT_SECONDS)).duration == pytest.approx(120, abs=25)


@pytest.mark.parametrize("style", STYLE_EXAMPLES)
def test_every_tag_of_a_style_shown_says_something(style: str) -> None:
    for tag in style.split(","):
        assert any(read_style(f"{tag}, {other}") != read_style(other) for other in OTHER_STYLES), tag


def _told(style: Style) -> tuple[object, ...]:
    band = style.band
    return (
        style.genre.name,
        style.tempo_bpm,
        style.meter,
        style.mode,
        style.register,
        band.lead.name,
        band.comp.name,
        band.drums and band.drums.name,
        style.instrumental,
    )


def test_the_styles_shown_are_read_as_they_are_meant() -> None:
    assert [_told(read_style(style)) for style in STYLE_EXAMPLES] == [
        ("folk", 84.0, (3, 4), "minor", "middle", "cello", "steel guitar", None, False),
        ("jazz", 110.88, (3, 4), "major", "low", "tenor sax", "piano", "brush kit", False),
        ("electronic", 118.0, (4, 4), "minor", "low", "saw lead", "electric piano", "tr-808", False),
        ("ballad", 56.16, (4, 4), "major", "high", "overdriven guitar", "piano", "standard kit", False),
        ("lullaby", 72.0, (3, 4), "major", "middle", "vibraphone", "harp", None, True),
    ]


def test_the_bounds_of_the_tempo_and_the_keys_shown_are_real() -> None:
    assert f"{SLOWEST_BPM:g} to {FASTEST_BPM:g}" in STYLE
    shown = re.search(r"\*\*Key\*\*: (.*?);", STYLE)
    assert shown is not None
    keys = [read_style(tag).key for tag in re.findall(r"`(.+?)`", shown[1])]
    assert keys == ["Dm", "F#", "Bbm", "Em"]


def _rows(heading: str) -> list[tuple[str, str, list[str]]]:
    rows = re.findall(r"^- \*\*(.+?)\*\* \((.+?)\): (.+)$", section(STYLE, heading), re.MULTILINE)
    return [(name, of, words.split(", ")) for name, of, words in rows]


def test_the_genres_are_those_there_are() -> None:
    assert _rows("## Genres") == [
        (
            genre.name,
            f"{genre.tempo_bpm:g} BPM, {genre.meter[0]}/{genre.meter[1]}, {genre.mode}",
            [word for word in genre.words if word != genre.name],
        )
        for genre in GENRES
    ]


def test_the_instruments_are_those_there_are() -> None:
    assert _rows("## Instruments") == [
        (name, PLACES[instrument.role], [word for word in INSTRUMENT_WORDS[name] if word != name])
        for name, instrument in INSTRUMENTS.items()
    ]


def test_the_moods_are_those_there_are() -> None:
    assert _rows("## Moods") == [
        (mood, mode, [word for word in words if word != mood]) for mood, (mode, words) in MOODS.items()
    ]


def test_the_words_for_tempo_metre_and_voice_are_those_there_are() -> None:
    rows = section(STYLE, "## What the band reads")
    listed: dict[str, list[str]] = {
        "bend the genre's tempo": list(TEMPO_FACTORS),
        "that set one": list(TEMPO_WORDS),
        "Nobody sings**": list(INSTRUMENTAL_WORDS),
    }
    listed.update((register, list(words)) for register, words in REGISTER_WORDS.items())
    for title, words in listed.items():
        found = re.search(rf"{re.escape(title)}: (.+?)[.;]", rows)
        assert found is not None
        assert found[1].split(", ") == words
    (metres,) = re.findall(r"\*\*Metre\*\*: (.+?), or (.+)\.$", rows, re.MULTILINE)
    assert {tuple(map(int, metre.split("/"))) for metre in metres[0].split(", ")} == METERS
    assert metres[1].split(", ") == [
        f"{word} ({above}/{below})" for word, (above, below) in METER_WORDS.items()
    ]


def test_the_score_shown_is_in_the_dialect_and_previews() -> None:
    (abc,) = fenced_blocks(SCORE, "abc")
    score = parse(abc)
    validate(score)
    assert (score.bar_count, [one.name for one in score.sections]) == (8, ["verse", "chorus"])
    assert parse(write(score)) == score
    assert all(bar.chords for bar in score.voices[0].bars)
    model = SketchModel()
    model.check_preview(read_sketch({"abc": abc, "style": "folk", "from_bar": 5, "bars": 4}))
    model.check(read_song({"abc": abc, "style": "folk"}))


def test_the_words_of_the_score_shown_are_the_lyrics_shown_with_it() -> None:
    (abc,) = fenced_blocks(SCORE, "abc")
    (lyrics,) = fenced_blocks(SCORE, "lyrics")
    syllables_sung = [note.lyric for bar in parse(abc).voices[0].bars for note in bar.notes if note.pitches]
    assert all(syllables_sung)
    words = "".join(text if text.endswith("-") else f"{text} " for text in syllables_sung).replace("-", "")
    assert words.lower().split() == re.sub(r"\[.*\]", "", lyrics).lower().split()


def test_the_bars_of_the_call_shown_are_heard() -> None:
    (call,) = map(json.loads, fenced_blocks(SCORE, "json"))
    validate(parse(call["arguments"]["abc"]))
    track = SketchModel().preview(read_sketch(call["arguments"] | {"lm_seed": 1, "seed": 1}), Uncontrolled())
    assert track.seconds > 4
    assert abs(track.samples).max() > 0.05


@pytest.mark.parametrize(
    "music", ["C D E F G A B", "c", "c'", "C,", "G2", "G3", "G/2", "Z4", "^F", "_B", "=F", "G4-|G2", "(3GAB"]
)
def test_the_notation_that_the_rules_show_is_read(music: str) -> None:
    assert f"`{music}`" in SCORE
    assert parse(f"X:1\nM:4/4\nL:1/8\nK:G\n{music}|\n").bar_count >= 1


@pytest.mark.parametrize("chord", re.findall(r'`"(.+?)"`', section(SCORE, "## Rules")))
def test_the_chords_that_the_rules_show_are_chords(chord: str) -> None:
    bar = parse(f'X:1\nM:4/4\nL:1/8\nK:G\n"{chord}"G8|\n').voices[0].bars[0]
    assert [symbol.text for symbol in bar.chords] == [chord]


def test_changes_on_the_way_are_read() -> None:
    assert all(f"`{field}`" in SCORE for field in ("[M:3/4]", "[Q:1/4=80]", "[K:Am]"))
    bar = parse("X:1\nM:4/4\nL:1/8\nK:G\nG8|[M:3/4][Q:1/4=80][K:Am]A6|\n").voices[0].bars[1]
    assert (bar.meter, bar.tempo_bpm, bar.key) == ((3, 4), 80.0, "Am")


def test_the_ranges_of_voices_are_those_the_composer_keeps_to() -> None:
    shown = re.findall(r"`([A-Ga-g],?)` to `([A-Ga-g],?)`", SCORE)[-3:]
    registers: tuple[Register, ...] = ("middle", "low", "high")
    for register, bounds in zip(registers, shown, strict=True):
        bars = [parse(f"X:1\nM:4/4\nL:1/1\nK:C\n{note}|\n").voices[0].bars[0] for note in bounds]
        pitches = [bar.notes[0].pitches[0] for bar in bars]
        steps = tuple("CDEFGAB".index(pitch.step) + 7 * pitch.octave for pitch in pitches)
        assert steps == RANGES[register]


def test_all_tempos_of_a_score_are_said_to_be_changed_together() -> None:
    assert "`Q:1/4=92`, and every `[Q:…]` inside" in SCORE


def test_a_songs_lyrics_are_said_to_help_its_transcript() -> None:
    assert "its lyrics as `prompt`" in LYRICS
