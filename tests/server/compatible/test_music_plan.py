"""Composition plans of both shapes, read and written."""

from typing import Any

import pytest
from elevenlabs import MusicPrompt as TheirPrompt
from elevenlabs.types import CompositionPlan
from pydantic import TypeAdapter, ValidationError

from engine.errors import InvalidRequest
from server.compatible.music_plan import (
    MOST_PLAN_BYTES,
    ChunkedPlan,
    MusicPrompt,
    Section,
    SongPlan,
    as_chunks,
    as_music_prompt,
    check_styles,
    check_written,
    distinct,
    plan_of,
    words_of,
)

SECTIONS: dict[str, Any] = {
    "positive_global_styles": ["folk", "Warm ", "folk"],
    "negative_global_styles": ["drums"],
    "sections": [
        {
            "section_name": "Verse 1",
            "positive_local_styles": ["soft"],
            "negative_local_styles": [],
            "duration_ms": 12_000,
            "lines": ["The river runs", "{whispered} below the town", "[Guitar fill]", " "],
        },
        {
            "section_name": "Outro [fade]",
            "positive_local_styles": [],
            "negative_local_styles": ["bass"],
            "duration_ms": 8_000,
            "lines": [],
            "source_from": None,
        },
    ],
}
CHUNKS: dict[str, Any] = {
    "chunks": [
        {
            "text": "[Verse 1]\nThe river runs {softly}\n\nbelow the town",
            "duration_ms": 12_000,
            "positive_styles": ["folk", "warm"],
            "negative_styles": ["drums", "choir"],
            "context_adherence": "high",
        },
        {
            "text": "{scratching}",
            "duration_ms": 5_000,
            "positive_styles": ["folk", "slow"],
            "negative_styles": ["drums"],
        },
        {"text": "One more line", "duration_ms": 3_000, "positive_styles": [], "negative_styles": ["drums"]},
    ]
}
PLAN = SongPlan(
    ("folk", "warm"),
    ("drums",),
    (Section("Verse 1", ("The river runs",), 12_000, ("soft",)), Section("Outro", (), 8_000, (), ("bass",))),
)


def test_a_plan_of_sections_is_read_without_what_nobody_sings() -> None:
    assert plan_of(MusicPrompt.model_validate(SECTIONS)) == SongPlan(
        ("folk", "Warm"),
        ("drums",),
        (
            Section("Verse 1", ("The river runs", "below the town"), 12_000, ("soft",)),
            Section("Outro fade", (), 8_000, (), ("bass",)),
        ),
    )


def test_directions_and_labels_among_the_lines_are_not_sung() -> None:
    lines = ["Chorus:", "[softly] Sing it {louder}", "(x2)", "All together: now"]
    section = SECTIONS["sections"][1] | {"lines": lines, "section_name": "[ ]"}
    (read,) = plan_of(MusicPrompt.model_validate({"sections": [section]})).sections
    assert (read.name, read.lines) == ("Verse", ("Sing it", "(x2)", "All together: now"))


def test_the_styles_of_all_chunks_are_those_of_the_song() -> None:
    assert plan_of(ChunkedPlan.model_validate(CHUNKS)) == SongPlan(
        ("folk",),
        ("drums",),
        (
            Section("Verse 1", ("The river runs", "below the town"), 12_000, ("warm",), ("choir",)),
            Section("Instrumental", (), 5_000, ("slow",)),
            Section("Verse", ("One more line",), 3_000),
        ),
    )


def test_one_chunk_without_a_voice_does_not_silence_the_others() -> None:
    intro = {
        "text": "[Intro]",
        "duration_ms": 4_000,
        "positive_styles": ["folk"],
        "negative_styles": ["vocals"],
    }
    verse = {
        "text": "[Verse]\nla",
        "duration_ms": 9_000,
        "positive_styles": ["folk"],
        "negative_styles": None,
    }
    plan = plan_of(ChunkedPlan.model_validate({"chunks": [intro, verse]}))
    assert (plan.styles, plan.avoided, plan.sections[0].avoided) == (("folk",), (), ("vocals",))


def test_a_plan_comes_back_from_either_shape() -> None:
    assert plan_of(MusicPrompt.model_validate(as_music_prompt(PLAN))) == PLAN
    assert plan_of(ChunkedPlan.model_validate(as_chunks(PLAN))) == PLAN


def test_the_vendors_own_types_take_what_is_written() -> None:
    prompt = TypeAdapter(TheirPrompt).validate_python(as_music_prompt(PLAN))
    chunks = TypeAdapter(CompositionPlan).validate_python(as_chunks(PLAN))
    assert [section.duration_ms for section in prompt.sections] == [12_000, 8_000]
    assert len(chunks.chunks) == 2


def test_the_length_is_that_of_all_sections() -> None:
    assert PLAN.milliseconds == 20_000
    assert SongPlan(sections=(Section("Verse"), Section("Outro", (), 3_000))).milliseconds is None
    assert SongPlan().milliseconds is None
    assert PLAN.is_sung
    assert not PLAN.without_words().is_sung


def test_a_style_counts_once_in_whatever_case() -> None:
    assert distinct(["Folk", " folk", "", "warm  pad"]) == ("Folk", "warm pad")


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"duration_ms": 2_999}, "greater than or equal"),
        ({"duration_ms": 120_001}, "less than or equal"),
        ({"section_name": ""}, "at least 1"),
        ({"section_name": "x" * 101}, "100 characters"),
        ({"lines": ["x"] * 31}, "at most 30"),
        ({"lines": ["x" * 201]}, "200 characters"),
        ({"source_from": {"song_id": "a"}}, "not possible here"),
        ({"positive_local_styles": ["x" * 201]}, "200 characters"),
        ({"negative_local_styles": ["x"] * 101}, "at most 100 entries"),
    ],
)
def test_a_section_beyond_its_bounds_is_refused(change: dict[str, Any], sentence: str) -> None:
    sections = [SECTIONS["sections"][0] | change]
    with pytest.raises(ValidationError, match=sentence):
        MusicPrompt.model_validate(SECTIONS | {"sections": sections})


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"text": f"[{'x' * 101}]"}, "at most 100"),
        ({"text": "x\n" * 31}, "at most 30 lines"),
        ({"text": "[a]" + "\n" * 10_000}, "at most 10000 characters"),
        ({"text": "x" * 201}, "at most 200 characters"),
        ({"conditioning_ref": {"song_id": "a"}}, "not possible here"),
        ({"song_id": "a"}, "not possible here"),
    ],
)
def test_a_chunk_beyond_its_bounds_is_refused(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValidationError, match=sentence):
        ChunkedPlan.model_validate({"chunks": [CHUNKS["chunks"][0] | change]})


@pytest.mark.parametrize(
    "plan",
    [
        {"sections": [1] * 201},
        {"sections": [SECTIONS["sections"][0] | {"lines": [1] * 31}] * 200},
        {"sections": [SECTIONS["sections"][0] | {"positive_local_styles": [1] * 100}] * 200},
        {"sections": [{"duration_ms": 1}] * 200},
        {"positive_global_styles": [1] * 900_000, "sections": SECTIONS["sections"]},
        {"negative_global_styles": ["x" * 201] * 100, "sections": SECTIONS["sections"]},
    ],
)
def test_of_lists_that_are_wrong_only_the_first_entry_is_told(plan: dict[str, Any]) -> None:
    with pytest.raises(ValidationError) as refused:
        MusicPrompt.model_validate(plan)
    assert len(refused.value.errors()) <= 3  # fields of the same section, and that no section is left


@pytest.mark.parametrize("chunk", [1, {"text": 1}, CHUNKS["chunks"][0] | {"positive_styles": [1] * 100}])
def test_of_chunks_too(chunk: Any) -> None:
    for count in (200, 201):
        with pytest.raises(ValidationError) as refused:
            ChunkedPlan.model_validate({"chunks": [chunk] * count})
        assert len(refused.value.errors()) <= 3


def test_a_number_of_times_above_the_words_is_not_sung() -> None:
    assert [*words_of(["(x2)", "{softly}", "x3", "Chorus:", "2x", "la", "(x2)"])] == ["la", "(x2)"]


def test_styles_count_once_where_all_chunks_repeat_them() -> None:
    styles = [f"{number:02d}" + "x" * 100 for number in range(40)]
    chunk = CHUNKS["chunks"][0] | {"positive_styles": styles}
    check_styles(plan_of(ChunkedPlan.model_validate({"chunks": [chunk] * 50})), "plan")
    other = CHUNKS["chunks"][0] | {"positive_styles": [style + "y" for style in styles]}
    with pytest.raises(InvalidRequest, match="styles of plan have 8") as refused:
        check_styles(plan_of(ChunkedPlan.model_validate({"chunks": [chunk, other]})), "plan")
    assert refused.value.field == "plan"


def test_a_plan_is_written_within_a_mebibyte() -> None:
    text = "x" * (MOST_PLAN_BYTES - len('{"a": ""}'))
    check_written({"a": text}, "plan")
    with pytest.raises(InvalidRequest, match="plan would take 1048577 bytes"):
        check_written({"a": text + "x"}, "plan")
    with pytest.raises(InvalidRequest, match="plan would take"):
        check_written({"a": "東" * (MOST_PLAN_BYTES // 2)}, "plan")
