"""Prompts read, and plans drafted from them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.sketch.compose import outline
from engine.sketch.sampler import TAIL_SECONDS
from server.compatible.music_plan import LONGEST_LINE, LONGEST_TAG, MOST_LINES, MOST_STYLES, Section, SongPlan
from server.compatible.music_prompt import draft, fitted, fitting_tags, read_prompt

SUNG = "Warm folk, no drums. Acoustic guitar\n[Verse 1]\nThe river runs\nbelow the town\n\n[Chorus] Sing it\n[Outro]"
WEIGHTED = st.lists(
    st.tuples(st.booleans(), st.one_of(st.just(0.0), st.floats(0.01, 500))), min_size=1, max_size=30
)


def lengths(plan: SongPlan) -> list[int]:
    return [section.milliseconds or 0 for section in plan.sections]


def test_a_prompt_is_tags_and_then_the_sections_that_it_names() -> None:
    assert read_prompt(SUNG) == SongPlan(
        ("Warm folk", "Acoustic guitar"),
        ("drums",),
        (
            Section("Verse 1", ("The river runs", "below the town")),
            Section("Chorus", ("Sing it",)),
            Section("Outro"),
        ),
    )


def test_among_the_words_a_known_name_with_a_colon_opens_a_section_too() -> None:
    plan = read_prompt("pop\nVerse:\n[Verse 1]\nla\nChorus:\nlo\nListen:\nlu")
    assert plan.styles == ("pop", "Verse:")
    assert [(section.name, section.lines) for section in plan.sections] == [
        ("Verse 1", ("la",)),
        ("Chorus", ("lo", "Listen:", "lu")),
    ]


def test_what_cannot_be_left_out_stays_a_tag() -> None:
    assert read_prompt("pop, no vocals, without autotune") == SongPlan(
        ("pop", "no vocals", "without autotune")
    )


def test_numbers_keep_their_points() -> None:
    assert read_prompt("A waltz at 92.5 BPM! Sad; slow").styles == ("A waltz at 92.5 BPM", "Sad", "slow")


def test_long_lines_and_many_lines_are_parted() -> None:
    word = "a" * 90
    plan = read_prompt("[Verse]\n" + f"{word} {word} {word}\n" * 20 + "b" * 450)
    assert [len(section.lines) for section in plan.sections] == [MOST_LINES, 13]
    assert all(len(line) <= LONGEST_LINE for section in plan.sections for line in section.lines)
    assert plan.sections[0].lines[:2] == (f"{word} {word}", word)


@pytest.mark.parametrize("milliseconds", [3_000, 10_001, 60_000, 600_000])
@pytest.mark.parametrize("prompt", ["pop", "ambient, slow", "12 bar blues", SUNG])
def test_a_draft_lasts_exactly_as_long_as_it_should(prompt: str, milliseconds: int) -> None:
    drafted = draft(read_prompt(prompt), milliseconds)
    assert sum(lengths(drafted)) == milliseconds
    assert all(3_000 <= length <= 120_000 for length in lengths(drafted))


def test_a_draft_without_words_has_the_form_of_its_genre() -> None:
    names = [section.name for section in draft(read_prompt("pop")).sections]
    assert names == ["Intro", "Verse 1", "Chorus", "Verse 2", "Chorus", "Bridge", "Chorus", "Outro"]
    assert [section.name for section in draft(read_prompt("jazz"), 10_000).sections] == ["Head"]


def test_a_form_comes_again_where_there_is_far_more_time() -> None:
    drafted = draft(read_prompt("pop"), 600_000)
    assert [section.name for section in drafted.sections].count("Bridge") == 5
    assert max(lengths(drafted)) < 30_000


def test_a_draft_with_words_keeps_them_inside_what_the_band_adds() -> None:
    drafted = draft(read_prompt(SUNG), 40_000)
    assert [(section.name, len(section.lines)) for section in drafted.sections] == [
        ("Intro", 0),
        ("Verse 1", 2),
        ("Chorus", 1),
        ("Outro", 0),
    ]


def test_a_draft_without_a_length_is_as_long_as_the_song_would_be() -> None:
    drafted = draft(SongPlan(("pop, 120 BPM",), (), (Section("Verse", ("One two three", "four five six")),)))
    sung = drafted.sections[[section.name for section in drafted.sections].index("Verse")]
    assert sung.milliseconds is not None
    assert 2_000 * TAIL_SECONDS < sung.milliseconds < 16_000


def test_sections_that_no_song_could_hold_are_weighed_by_their_lines() -> None:
    verses = tuple(Section(f"Verse {number}", ("la",) * 30) for number in range(20))
    drafted = draft(SongPlan(("pop",), (), (*verses, Section("Solo"))), 600_000)
    assert [len(section.lines) for section in drafted.sections] == [30] * 20 + [0]
    assert max(lengths(drafted)[:-1]) - min(lengths(drafted)[:-1]) <= 1
    assert 3_000 < lengths(drafted)[-1] < 6_000


def test_lengths_that_a_plan_has_are_scaled() -> None:
    plan = SongPlan(("pop",), (), (Section("A", (), 10_000), Section("B", ("la",), 30_000)))
    assert lengths(draft(plan, 20_000)) == [5_000, 15_000]
    assert draft(plan) == plan


def test_too_short_a_section_leaves_its_time_to_its_neighbour() -> None:
    sections = (Section("Intro"), Section("Verse", ("la",)), Section("Outro"))
    assert fitted(sections, [1, 8, 1], 10_000) == (Section("Verse", ("la",), 10_000),)


def test_too_long_a_section_is_split() -> None:
    first, second = fitted((Section("Verse", ("la",)),), [1], 130_000)
    assert (first.lines, first.milliseconds) == (("la",), 65_000)
    assert (second.lines, second.milliseconds) == ((), 65_000)


@given(parts=WEIGHTED, milliseconds=st.integers(3_000, 600_000))
def test_any_sections_fit_any_length(parts: list[tuple[bool, float]], milliseconds: int) -> None:
    sections = [Section(f"Part {place}", ("la",) if sung else ()) for place, (sung, _) in enumerate(parts)]
    made = fitted(sections, [weight for _, weight in parts], milliseconds)
    times = [section.milliseconds or 0 for section in made]
    assert sum(times) == milliseconds
    assert all(3_000 <= time <= 120_000 for time in times)
    words = sum(len(section.lines) for section in made)
    assert words == min(sum(sung for sung, _ in parts), words if len(made) == 1 else 30)


def test_the_time_of_sections_that_go_at_the_end_is_the_last_ones() -> None:
    sections = (Section("Intro", ("la",)), Section("Verse", ("la",)), Section("Coda"), Section("Outro"))
    made = fitted(sections, [10, 8, 0.5, 0.5], 38_000)
    assert [(section.name, section.milliseconds) for section in made] == [
        ("Intro", 20_000),
        ("Verse", 18_000),
    ]


@pytest.mark.parametrize("prompt", ["pop", "folk", "ambient", "hip hop"])
@pytest.mark.parametrize("milliseconds", [5_000, 15_000])
def test_a_form_does_not_come_again_where_there_is_little_time(prompt: str, milliseconds: int) -> None:
    assert len(draft(read_prompt(prompt), milliseconds).sections) == 1


def test_what_stands_behind_a_heading_for_times_is_no_word() -> None:
    plan = read_prompt("pop\n[Verse] x2\nla\n[Chorus x2, 30 s]\n{softly} lo")
    assert plan.sections == (
        *(Section("Verse", ("la",)),) * 2,
        *(Section("Chorus", ("lo",), 15_000),) * 2,
    )


def test_sections_come_again_as_far_as_there_is_room() -> None:
    plan = read_prompt("[Verse x9]\n" + f"{'la ' * 60}\n" * 20 + "[Chorus x9]\nlo")
    names = [section.name for section in plan.sections]
    assert 1 < names.count("Verse") < 9
    assert names.count("Chorus") > 1


def test_a_section_of_many_lines_shares_its_time() -> None:
    plan = read_prompt("[Verse, 60 s]\n" + "la\n" * 40)
    assert [(len(part.lines), part.milliseconds) for part in plan.sections] == [(30, 30_000), (10, 30_000)]


def test_tags_fit_a_plan_whole_or_in_pieces() -> None:
    assert fitting_tags(["folk", "warm"]) == ("folk", "warm")
    assert fitting_tags(["word " * 50]) == (("word " * 40).strip(), ("word " * 10).strip())
    many = [f"tag {number}" for number in range(MOST_STYLES + 1)]
    fitting = fitting_tags(many)
    assert len(fitting) <= MOST_STYLES
    assert ", ".join(fitting) == ", ".join(many)
    assert max(map(len, fitting)) <= LONGEST_TAG


def test_only_so_much_is_avoided_as_a_plan_can_hold() -> None:
    plan = read_prompt(", ".join(f"no {number} drums" for number in range(MOST_STYLES + 5)))
    assert (len(plan.avoided), len(plan.styles)) == (MOST_STYLES, 5)
    assert read_prompt(f"no {'x' * LONGEST_TAG} drums").avoided == ()


def test_a_drafted_song_is_told_with_its_end() -> None:
    told = outline("folk", "[Verse]\nla la la\n[Chorus]\nlo", 600.0)
    drafted = draft(read_prompt("folk\n[Verse]\nla la la\n[Chorus]\nlo"))
    seconds = [part.seconds for part in told]
    assert sum(lengths(drafted)) == pytest.approx(1000 * (sum(seconds) + TAIL_SECONDS), abs=1)
