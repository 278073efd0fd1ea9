"""A song's passages, and how they fit the time there is."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.sketch.form import Form, Passage, plan_form
from engine.sketch.lyrics import read_lyrics
from engine.sketch.rhythm import Grid

GRID = Grid((4, 4), 120)  # two seconds a bar
RAP = Grid((4, 4), 88, flowing=True)
SONG = "[Verse]\nOne two three four\nFive six seven eight\n[Chorus]\nOh my love\n[Verse]\nNine ten eleven\n[Chorus]\nOh my love\n"


def planned(lyrics: str, seconds: float, grid: Grid = GRID) -> tuple[Passage, ...]:
    return plan_form(read_lyrics(lyrics), grid, seconds).passages


def names(passages: tuple[Passage, ...]) -> list[str]:
    return [passage.name for passage in passages]


def test_asked_sections_keep_their_order_inside_an_intro_and_an_outro() -> None:
    assert names(planned(SONG, 360)) == ["intro", "verse", "chorus", "verse", "chorus", "outro"]


def test_an_asked_intro_and_outro_are_not_doubled() -> None:
    assert names(planned("[Intro]\n[Verse]\nla\n[Outro]\nla", 360)) == ["intro", "verse", "outro"]


def test_short_time_first_takes_what_nobody_asked_for() -> None:
    sung = sum(passage.bars for passage in planned(SONG, 360)) - 4
    assert names(planned(SONG, 2.0 * sung)) == ["verse", "chorus", "verse", "chorus"]


def test_too_short_a_time_ends_after_the_last_phrase_that_fits() -> None:
    passages = planned(SONG, 10)
    assert names(passages) == ["verse", "chorus"][: len(passages)]
    assert sum(passage.bars for passage in passages) <= 5


def test_words_outlast_what_nobody_sings() -> None:
    text = "[Intro]\n[Verse]\nOne two three\nfour five six\n[Solo]\n[Chorus]\nOh my love\n[Outro]\n"
    assert names(planned(text, 24)) == ["intro", "verse", "solo", "chorus", "outro"]
    assert names(planned(text, 12)) == ["verse", "chorus"]
    verse, chorus = planned(text, 8)
    assert [phrase.syllables[0].text for phrase in verse.phrases] == ["One", "four"]
    assert [phrase.bars for phrase in (*verse.phrases, *chorus.phrases)] == [2, 1, 1]
    (verse,) = planned(text, 4)
    assert [phrase.syllables[0].text for phrase in verse.phrases] == ["One"]


def test_thousands_of_lines_are_cut_before_they_are_drafted() -> None:
    whole, some = (planned("[Verse]\n" + "la la\n" * count, 60) for count in (4_000, 40))
    assert whole == some


def test_even_no_time_gives_one_bar_with_the_first_words() -> None:
    (passage,) = planned(SONG, 0.1)
    assert passage.bars == 1
    assert passage.phrases[0].syllables[0].text == "One"


def test_without_lyrics_there_is_a_whole_form_as_long_as_there_is_time() -> None:
    assert names(planned("", 360)) == [
        "intro",
        "verse",
        "chorus",
        "verse",
        "chorus",
        "bridge",
        "chorus",
        "outro",
    ]
    assert names(planned("", 100)) == ["intro", "verse", "chorus", "verse", "chorus", "outro"]
    assert names(planned("", 9)) == ["verse"]


def test_empty_sections_are_played() -> None:
    verse = planned("[Verse]\n[Chorus]\nla la", 360)[1]
    assert verse.bars == 8
    assert not any(phrase.syllables for phrase in verse.phrases)


@pytest.mark.parametrize("tempo", [40, 60, 88, 120, 168, 220])
@pytest.mark.parametrize("lines", [1, 4, 12])
def test_nobody_waits_long_for_the_singer(tempo: int, lines: int) -> None:
    grid = Grid((4, 4), tempo)
    intro = planned("[Verse]\n" + "la la la la la\n" * lines, 360, grid)[0]
    assert intro.name == "intro"
    assert 1 <= intro.bars <= 4
    assert intro.bars == 1 or intro.bars * grid.bar_seconds <= (3 if lines <= 4 else 5)


@pytest.mark.parametrize("tempo", [60, 96, 140])
def test_a_song_of_few_lines_is_mostly_sung(tempo: int) -> None:
    passages = planned("[Verse]\nRain on the window\nlight in the hall\n", 360, Grid((4, 4), tempo))
    sung = [phrase.bars for passage in passages for phrase in passage.phrases if phrase.syllables]
    assert sum(sung) >= 0.5 * sum(passage.bars for passage in passages)


def test_slow_bars_hold_a_whole_line() -> None:
    verse = planned("[Verse]\nRain on the window\nlight in the hall\n", 360, Grid((4, 4), 60))[1]
    assert [phrase.bars for phrase in verse.phrases] == [1, 1]


@pytest.mark.parametrize(("syllables", "bars"), [(8, 1), (12, 1), (13, 1), (14, 2), (20, 2)])
def test_a_rapped_line_has_one_bar_or_two(syllables: int, bars: int) -> None:
    line = "la " * syllables + "\n"
    verse = planned("[Verse]\n" + "la " * 10 + "\n" + "da " * 11 + "\n" + "ta " * 12 + "\n" + line, 360, RAP)[
        1
    ]
    assert [phrase.bars for phrase in verse.phrases[:4]] == [1, 1, 1, bars]


def test_lines_that_do_not_fit_are_counted_with_the_bars_that_hold_them_all() -> None:
    sections = read_lyrics(SONG)
    form = plan_form(sections, GRID, 8)
    assert (form.left_out, form.hurried) == (3, True)
    assert not plan_form(sections, GRID, 2.0 * form.bars_for_all).left_out
    assert plan_form(sections, GRID, 360) == Form(planned(SONG, 360))


def test_a_long_line_is_cut_at_word_ends() -> None:
    verse = planned("[Verse]\n" + "never more " * 12, 360)[1]
    assert len(verse.phrases) > 1
    assert all(phrase.syllables[-1].ends_word for phrase in verse.phrases)
    assert sum(len(phrase.syllables) for phrase in verse.phrases) == 36


def test_fast_songs_give_a_line_four_bars() -> None:
    verse = planned("[Verse]\n" + "I am walking down the road tonight alone\n" * 2, 360, Grid((3, 4), 200))[1]
    assert [phrase.bars for phrase in verse.phrases] == [4, 4]


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.sampled_from(["[Verse]", "[Chorus]", "[X]", "la", "never ever more " * 3, "a" * 80, "東" * 50]),
        max_size=8,
    ),
    st.floats(0.1, 400),
    st.sampled_from([(2, 4), (3, 8), (4, 4), (12, 8)]),
    st.floats(40, 220),
)
def test_any_lyrics_fit_any_time(
    rows: list[str], seconds: float, meter: tuple[int, int], tempo: float
) -> None:
    grid = Grid(meter, tempo)
    passages = planned("\n".join(rows), seconds, grid)
    bars = sum(passage.bars for passage in passages)
    assert bars == 1 or bars * grid.bar_seconds <= seconds + 1e-6
    for phrase in (phrase for passage in passages for phrase in passage.phrases):
        assert len(phrase.syllables) <= grid.capacity(phrase.bars, hurried=True)


def bars(passages: tuple[Passage, ...]) -> list[int]:
    return [passage.bars for passage in passages]


def test_headings_that_tell_times_make_sections_as_long_as_that() -> None:
    text = "[Intro, 8 s]\n[Verse, 24 s]\nOne two three\nfour five six\n[Outro, 5 s]"
    passages = planned(text, 60)
    assert names(passages) == ["intro", "verse", "outro"]
    assert bars(passages) == [4, 12, 2]


def test_instruments_answer_each_line_of_a_section_that_is_drawn_out() -> None:
    (verse,) = planned("[Verse, 18 s]\nOne two three\nfour five six", 60)
    assert [(phrase.bars, bool(phrase.syllables)) for phrase in verse.phrases] == [
        (2, True),
        (2, False),
        (2, True),
        (2, False),
        (1, False),
    ]


def test_words_keep_the_time_that_they_need_and_others_give_it() -> None:
    text = "[Verse, 4 s]\nOne two three\nfour five six\n[Solo, 20 s]"
    assert bars(planned(text, 24)) == [4, 8]


def test_lines_are_hurried_before_a_section_that_is_named_goes() -> None:
    passages = planned("[Verse, 6 s]\nOne two three\nfour five six\n[Outro, 3 s]", 9)
    assert names(passages) == ["verse", "outro"]
    assert bars(passages) == [3, 1]


def test_a_section_without_a_time_keeps_its_usual_length() -> None:
    assert bars(planned("[Verse, 10 s]\n[Solo]", 60)) == [5, 4]


def test_where_words_alone_are_too_long_the_times_do_not_count() -> None:
    text = "[Verse, 30 s]\n" + "la la la\n" * 20
    form = plan_form(read_lyrics(text), GRID, 20)
    assert form.bars <= 10
    assert form.left_out == 20 - sum(
        phrase.ends_line for passage in form.passages for phrase in passage.phrases
    )
