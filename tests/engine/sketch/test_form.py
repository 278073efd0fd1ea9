"""A song's passages, and how they fit the time there is."""

from hypothesis import given, settings
from hypothesis import strategies as st

from engine.sketch.form import Passage, plan_form
from engine.sketch.lyrics import read_lyrics
from engine.sketch.rhythm import Grid

GRID = Grid((4, 4), 120)  # two seconds a bar
SONG = "[Verse]\nOne two three four\nFive six seven eight\n[Chorus]\nOh my love\n[Verse]\nNine ten eleven\n[Chorus]\nOh my love\n"


def planned(lyrics: str, seconds: float, grid: Grid = GRID) -> tuple[Passage, ...]:
    return plan_form(read_lyrics(lyrics), grid, seconds)


def names(passages: tuple[Passage, ...]) -> list[str]:
    return [passage.name for passage in passages]


def test_asked_sections_keep_their_order_inside_an_intro_and_an_outro() -> None:
    assert names(planned(SONG, 360)) == ["intro", "verse", "chorus", "verse", "chorus", "outro"]


def test_an_asked_intro_and_outro_are_not_doubled() -> None:
    assert names(planned("[Intro]\n[Verse]\nla\n[Outro]\nla", 360)) == ["intro", "verse", "outro"]


def test_short_time_first_takes_what_nobody_asked_for() -> None:
    sung = sum(passage.bars for passage in planned(SONG, 360)) - 8
    assert names(planned(SONG, 2.0 * sung)) == ["verse", "chorus", "verse", "chorus"]


def test_too_short_a_time_ends_after_the_last_phrase_that_fits() -> None:
    passages = planned(SONG, 10)
    assert names(passages) == ["verse", "chorus"][: len(passages)]
    assert sum(passage.bars for passage in passages) <= 5


def test_words_outlast_what_nobody_sings() -> None:
    text = "[Intro]\n[Verse]\nOne two three\nfour five six\n[Solo]\n[Chorus]\nOh my love\n[Outro]\n"
    assert names(planned(text, 24)) == ["intro", "verse", "solo", "chorus", "outro"]
    assert names(planned(text, 12)) == ["verse", "chorus"]
    (verse,) = planned(text, 8)
    assert [phrase.syllables[0].text for phrase in verse.phrases] == ["One", "four"]


def test_thousands_of_lines_are_cut_before_they_are_drafted() -> None:
    whole, some = (planned("[Verse]\n" + "la la\n" * count, 60) for count in (4_000, 16))
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
