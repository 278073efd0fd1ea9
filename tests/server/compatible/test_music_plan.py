"""Composition plans of both shapes, read and written."""

from typing import Any

import pytest
from elevenlabs import MusicPrompt as TheirPrompt
from elevenlabs.types import CompositionPlan
from pydantic import TypeAdapter, ValidationError

from server.compatible.music_plan import (
    ChunkedPlan,
    MusicPrompt,
    Section,
    SongPlan,
    as_chunks,
    as_music_prompt,
    distinct,
    plan_of,
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
        ({"text": "x" * 201}, "at most 200 characters"),
        ({"conditioning_ref": {"song_id": "a"}}, "not possible here"),
        ({"song_id": "a"}, "not possible here"),
    ],
)
def test_a_chunk_beyond_its_bounds_is_refused(change: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValidationError, match=sentence):
        ChunkedPlan.model_validate({"chunks": [CHUNKS["chunks"][0] | change]})
