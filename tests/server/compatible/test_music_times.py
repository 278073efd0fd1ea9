"""The times of sections: asked for, played and told."""

from itertools import accumulate
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.control import Uncontrolled
from engine.score import Timeline, parse, timeline
from engine.sketch.lyrics import read_lyrics
from engine.sketch.pipeline import SketchModel
from engine.sketch.sampler import TAIL_SECONDS
from server.compatible.music import read_composition, song_of
from server.compatible.music_answers import Sung, described
from server.compatible.music_plan import Section
from server.compatible.music_times import heading, lyrics_of, without_tail

STYLES = st.sampled_from(["pop", "folk", "hip hop", "waltz", "ballad", "rock", "ambient", "jazz, 140 BPM"])
WORDS = st.lists(st.sampled_from(["Come home again", "The river runs", "Sing it"]), max_size=1)


def sections_of(shortest_ms: int) -> st.SearchStrategy[list[dict[str, Any]]]:
    section = st.fixed_dictionaries(
        {
            "section_name": st.sampled_from(
                ["Intro", "Verse 1", "Chorus", "Chorus x2", "Solo, 30 s", "Outro"]
            ),
            "duration_ms": st.integers(shortest_ms, 30_000),
            "lines": WORDS,
        }
    )
    return st.lists(section, min_size=1, max_size=5)


def made(style: str, sections: Any) -> tuple[Timeline, list[int], tuple[str, ...]]:
    """The score of such a plan as it is played, the lengths that are told of it in ms, and the job's notes."""
    asked = read_composition(
        {"composition_plan": {"positive_global_styles": [style], "sections": sections}}, ""
    )
    request, notes = song_of(asked, keeps_time=True)
    abc = SketchModel().plan(request.model_copy(update={"lm_seed": 3}), Uncontrolled()).abc
    played = timeline(parse(abc))
    sounding = min(played.duration + TAIL_SECONDS, request.longest_seconds)
    told: Any = described(asked, Sung({"abc": abc, "style": style}, round(1000 * sounding)))
    lengths = [section["duration_ms"] for section in told["composition_plan"]["sections"]]
    return played, lengths, notes


@settings(max_examples=30, deadline=None)
@given(style=STYLES, sections=sections_of(3_000))
def test_what_is_told_is_what_is_played_and_what_is_noted_is_what_is_missed(
    style: str, sections: list[dict[str, Any]]
) -> None:
    played, told, notes = made(style, sections)
    wanted = [section["duration_ms"] for section in sections]
    assert sum(told) == pytest.approx(sum(wanted), abs=100) or "BPM" in style
    starts = [1000 * start for _, start, _ in played.sections]
    assert [0, *accumulate(told)][:-1] == pytest.approx(starts, abs=1)
    if len(told) == len(wanted):
        worst = max(abs(got - want) for got, want in zip(told, wanted, strict=True))
        noted = any("whole bars" in note for note in notes)
        assert noted is (worst > 1000) or worst == pytest.approx(1000, abs=350)


@settings(max_examples=30, deadline=None)
@given(style=STYLES, sections=sections_of(12_000))
def test_sections_begin_where_they_are_asked_for_to_half_a_bar(
    style: str, sections: list[dict[str, Any]]
) -> None:
    played, told, _ = made(style, sections)
    wanted = [section["duration_ms"] for section in sections]
    assert len(told) == len(wanted)
    half = 1000 * (played.bars[0][1] / 2)
    starts, asked = [0, *accumulate(told)][:-1], [0, *accumulate(wanted)][:-1]
    assert starts == pytest.approx(asked, abs=half + 150)
    if "BPM" in style:  # which is kept, so that the last bar may not fit
        assert sum(wanted) - 2 * half - 100 < sum(told) <= sum(wanted)
    else:
        assert played.duration + TAIL_SECONDS == pytest.approx(sum(wanted) / 1000, abs=0.1)


def test_a_section_that_misses_its_time_is_named() -> None:
    sections: Any = [{"section_name": name, "duration_ms": 6_000, "lines": []} for name in ("One", "Two")]
    _, told, notes = made("folk, 60 BPM", sections)
    assert told[0] > 3_900
    assert any(
        note.startswith("Sections are whole bars") and "One 4.0 s instead of 6" in note for note in notes
    )


def test_a_song_that_ends_while_it_fades_is_as_long_as_its_one_section() -> None:
    sections: Any = [{"section_name": "Verse", "duration_ms": 3_000, "lines": []}]
    played, told, notes = made("folk", sections)
    assert played.duration + TAIL_SECONDS > 4
    assert (told, notes) == ([3_000], ())


@given(name=st.text(st.sampled_from("Verse x23×(,:|) s.-"), min_size=1, max_size=70))
def test_no_name_opens_more_than_one_section_or_tells_another_time(name: str) -> None:
    told = Section(" ".join(name.split()) or "Verse", ("la",), 8_000)
    (read,) = read_lyrics(lyrics_of([told], timed=True))
    assert (read.seconds, len(read.lines)) == (8.0, 1)
    (untimed,) = read_lyrics(lyrics_of([told], timed=False))
    assert (untimed.seconds, len(untimed.lines), untimed.kind) == (None, 1, read.kind)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("Chorus x2", "[Chorus, 12.5 s]"),
        ("Verse, 30 s", "[Verse, 12.5 s]"),
        ("Verse 2 x", "[Verse, 12.5 s]"),
        (", 30 s", "[Instrumental, 12.5 s]"),
        ("Verse 2", "[Verse 2, 12.5 s]"),
    ],
)
def test_a_heading_is_a_name_and_one_time(name: str, line: str) -> None:
    assert heading(Section(name, (), 12_500), timed=True) == line


def test_what_fades_is_the_last_sections() -> None:
    kept = without_tail([Section("A", (), 5_000), Section("B", (), 5_000)])
    assert [section.milliseconds for section in kept] == [5_000, 2_800]
    assert without_tail([Section("A", (), 2_000)])[0].milliseconds == 100
    assert without_tail([Section("A")]) == (Section("A"),)
    assert without_tail([]) == ()
