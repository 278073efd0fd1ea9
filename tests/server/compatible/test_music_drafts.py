"""Plans that are answered: every one of them can be composed."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import InvalidRequest
from engine.request import SongRequest
from server.compatible.music import drafted, read_composition, song_of
from server.compatible.music_plan import MOST_PLAN_BYTES


def song(payload: dict[str, Any], *, keeps_time: bool = True) -> tuple[SongRequest, tuple[str, ...]]:
    return song_of(read_composition(payload, ""), keeps_time=keeps_time)


ROWS = st.sampled_from(
    [
        *(
            "folk, warm",
            "no drums",
            "x" * 450,
            "a,b,c," * 60,
            "no bass drums, " * 20,
            "[Verse]",
            "[V] la la",
            "[Solo]",
        ),
        *(
            "[Chorus x2]",
            "[Hook] x3",
            "(x2)",
            "[Verse, 30 s]",
            "[Coda: 1 s]",
            "[x2]",
            "[, 3 s]",
            "Chorus:",
            "{soft}",
        ),
        *(
            "[Part] " * 5,
            "[" + "n" * 80 + "] Sing",
            "la " * 90,
            "!!!",
            "\u2028 [Verse]",
            "East \u6771\u4eac",
            "[Bridge x9, 90 s]",
        ),
        *("Come home again\n" * 40, "[V] la\n" * 80, "[Long, 900 s]\nla"),
    ]
)
PROMPTS = st.lists(ROWS, min_size=1, max_size=9).map("\n".join).map(lambda text: text[:4_100])


@settings(max_examples=120, deadline=None)
@given(
    prompt=PROMPTS,
    length=st.one_of(st.none(), st.integers(3_000, 600_000)),
    model=st.sampled_from(["music_v1", "music_v2"]),
)
def test_every_plan_that_is_answered_can_be_composed(prompt: str, length: int | None, model: str) -> None:
    answer = drafted({"prompt": prompt, "music_length_ms": length, "model_id": model}).answer
    assert len(json.dumps(answer, ensure_ascii=False).encode()) <= MOST_PLAN_BYTES
    for keeps_time in (True, False):
        request, _ = song({"composition_plan": answer, "model_id": model}, keeps_time=keeps_time)
        assert 3 <= (request.duration or 0) <= 600
        assert length is None or request.duration == length / 1000


@pytest.mark.parametrize("prompt", ["a\n" + "[V] la\n" * 580, "a\n" + "[V x9] la\n" * 400, "a," * 2_000])
def test_prompts_that_name_more_than_a_song_can_have_are_put_together(prompt: str) -> None:
    answer: Any = drafted({"prompt": prompt}).answer
    lengths = [section["duration_ms"] for section in answer["sections"]]
    assert len(lengths) <= 200
    assert sum(lengths) <= 600_000
    assert song({"composition_plan": answer})[0].duration == sum(lengths) / 1000


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(
        st.sampled_from(
            ["[Verse]", "la la", "{soft} lo", "Chorus:", "(x2)", "[Hook x2]", "[Solo] x3", "[x]", "x2"]
        ),
        max_size=8,
    )
)
def test_any_drafted_plan_gives_the_song_of_its_prompt(rows: list[str]) -> None:
    payload: dict[str, Any] = {
        "prompt": "\n".join(["folk, no drums", "[Verse]", *rows]),
        "music_length_ms": 90_000,
    }
    planned, _ = song({"composition_plan": drafted(payload).answer})
    assert planned == song(payload)[0]


def test_a_plan_that_would_be_written_too_long_is_refused() -> None:
    styles = [f"{number:03d}" + "x" * 190 for number in range(40)]
    sections = [{"section_name": "A", "duration_ms": 3_000}] * 200
    plan: Any = {"positive_global_styles": styles, "sections": sections}
    assert read_composition({"composition_plan": plan}, "").milliseconds == 600_000
    for model_id in ("music_v2", "music_v2_5"):
        with pytest.raises(InvalidRequest, match="at most 1048576"):
            read_composition({"composition_plan": plan, "model_id": model_id}, "")
        with pytest.raises(InvalidRequest, match="at most 1048576") as refused:
            drafted({"prompt": "a", "source_composition_plan": plan, "model_id": model_id})
        assert refused.value.field == "source_composition_plan"


def test_times_that_headings_tell_are_drawn_to_the_length_that_is_asked_for() -> None:
    prompt = "pop\n[Verse, 30 s]\n[Solo, 30 s]"
    assert song({"prompt": prompt})[0].lyrics == "[Verse, 30 s]\n\n[Solo, 30 s]"
    request, _ = song({"prompt": prompt, "music_length_ms": 20_000})
    assert request.lyrics == "[Verse, 10 s]\n\n[Solo, 7.8 s]"


def test_sections_that_come_again_never_make_a_song_too_long_for_a_request() -> None:
    request, _ = song({"prompt": "pop\n" + f"[V x9] {'la ' * 12}\n" * 90})
    assert 4_000 < len(request.lyrics) < 32_000


def test_a_long_prompt_that_reads_as_nothing_fits_too() -> None:
    assert song({"prompt": "!" * 4_100})[0].style == "!" * 4_000
