"""Lyrics fall into sections, lines and syllables."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.sketch.lyrics import is_upbeat, plain_name, read_line, read_lyrics, read_name, read_times


def outline(text: str) -> list[tuple[str, str, int]]:
    return [(section.name, section.kind, len(section.lines)) for section in read_lyrics(text)]


def test_headings_open_sections_in_order() -> None:
    text = "[Intro]\n[Verse 1]\na b\n\nc\n[CHORUS]\nd\n[verse 2: Ann]\ne\n[Pre-Chorus]\nf\n[Guitar Solo]\n[Outro]\n"
    assert outline(text) == [
        ("intro", "intro", 0),
        ("verse 1", "verse", 2),
        ("chorus", "chorus", 1),
        ("verse 2", "verse", 1),
        ("pre-chorus", "pre-chorus", 1),
        ("guitar solo", "interlude", 0),
        ("outro", "outro", 0),
    ]


def test_unknown_headings_are_kept_and_share_their_kind() -> None:
    assert outline("[Mystery 1]\na\n[Mystery 2]\nb\n[1]\nc") == [
        ("mystery 1", "mystery", 1),
        ("mystery 2", "mystery", 1),
        ("section", "section", 1),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "[Chorus x2]\na\nb",
        "[Chorus] x2\na\nb",
        "[Chorus]\nx2\na\nb",
        "[Chorus]\n(x2)\na\nb",
        "[Chorus (2x)]\na\nb",
    ],
)
def test_a_section_can_be_asked_for_twice(text: str) -> None:
    assert outline("[Verse 2]\nc\n" + text) == [
        ("verse 2", "verse", 1),
        ("chorus", "chorus", 2),
        ("chorus", "chorus", 2),
    ]


def test_times_among_the_words_are_words() -> None:
    assert outline("[Chorus]\na\nx2\n[Xenon 2]\nb") == [("chorus", "chorus", 2), ("xenon 2", "xenon", 1)]


def test_a_known_name_with_a_colon_opens_a_section() -> None:
    assert outline("Verse 1:\na\nShe said:\nb\nPre-Chorus:\nc\nChorus x2:\nd") == [
        ("verse 1", "verse", 3),
        ("pre-chorus", "pre-chorus", 1),
        ("chorus", "chorus", 1),
        ("chorus", "chorus", 1),
    ]


def test_words_on_the_line_of_a_heading_and_before_any_heading_are_sung() -> None:
    assert outline("first words\n[Verse] more words\n") == [("verse", "verse", 1), ("verse", "verse", 1)]


def test_without_headings_blank_lines_part_verses_and_a_repeated_passage_is_the_chorus() -> None:
    assert outline("a\nb\n\nc\n\nd\n\nc\n") == [
        ("verse", "verse", 2),
        ("chorus", "chorus", 1),
        ("verse", "verse", 1),
        ("chorus", "chorus", 1),
    ]


@pytest.mark.parametrize("text", ["", "\n\n", "...\n—\n"])
def test_no_words_and_no_headings_give_nothing(text: str) -> None:
    assert read_lyrics(text) == ()


def test_a_line_knows_its_words_and_syllables() -> None:
    line = read_line("Hello, (ooh) well-known — sea!")
    assert [(part.text, part.ends_word) for part in line.syllables] == [
        ("Hel", False),
        ("lo,", True),
        ("(ooh)", True),
        ("well", True),
        ("known", True),
        ("sea!", True),
    ]


def test_what_means_something_in_a_score_is_left_out() -> None:
    assert [part.text for part in read_line('a* b_c |"d" %e \x07f').syllables] == [
        "a",
        "b",
        "c",
        "d",
        "e",
        "f",
    ]


def test_little_words_lead_into_a_beat() -> None:
    assert is_upbeat("(The")
    assert is_upbeat("and,")
    assert not is_upbeat("Carry")


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text(max_size=30) | st.sampled_from(["[Verse]", "[%\\-", "[x]", "la la", ""]), max_size=8))
def test_any_text_is_lyrics(rows: list[str]) -> None:
    for section in read_lyrics("\n".join(rows)):
        assert section.kind
        assert section.name
        assert len(section.name) <= 40
        assert all(part.text.strip() for line in section.lines for part in line.syllables)
        assert all(line.syllables[-1].ends_word for line in section.lines)


@pytest.mark.parametrize(
    ("heading", "name", "seconds"),
    [
        ("[Verse 1, 30 s]", "verse 1", 30.0),
        ("[Solo: 12.5s]", "solo", 12.5),
        ("[Chorus | 8 sec]", "chorus", 8.0),
        ("[Bridge (20 seconds)]", "bridge", 20.0),
        ("[Verse 1]", "verse 1", None),
        ("[Chorus: 30 s of joy]", "chorus", None),
        ("[Verse, 0 s]", "verse", None),
        ("[Verse 30 s]", "verse 30 s", None),
    ],
)
def test_a_heading_says_how_long_its_section_is(heading: str, name: str, seconds: float | None) -> None:
    (section,) = read_lyrics(f"{heading}\nla la")
    assert (section.name, section.seconds, len(section.lines)) == (name, seconds, 1)


def test_sections_that_repeat_share_their_time() -> None:
    assert [section.seconds for section in read_lyrics("[Chorus x2, 30 s]\nla")] == [15.0, 15.0]


@pytest.mark.parametrize(
    ("heading", "name", "times", "seconds"),
    [
        ("Chorus x2, 8 s", "Chorus", 2, 8.0),
        ("Verse, 30 s", "Verse", 1, 30.0),
        ("Solo", "Solo", 1, None),
        ("x2", "x2", 1, None),
        ("Verse, 0 s", "Verse, 0 s", 1, None),
    ],
)
def test_a_heading_tells_a_name_times_and_a_length(
    heading: str, name: str, times: int, seconds: float | None
) -> None:
    assert read_name(heading) == (name, times, seconds)


@given(st.text(st.sampled_from("Ax23×(,:|) s."), max_size=30))
def test_a_plain_name_tells_nothing_but_itself(heading: str) -> None:
    name = plain_name(heading)
    assert read_name(name) == (name, 1, None)
    assert plain_name(name) == name


def test_a_line_that_is_a_number_of_times() -> None:
    assert [read_times(row) for row in ("(x2)", "3 x", "x", "la x2", "")] == [2, 3, None, None, None]
