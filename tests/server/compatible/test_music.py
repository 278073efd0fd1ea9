"""ElevenLabs' music requests as requests of ours."""

from typing import Any

import pytest

from engine.audio import AudioForm
from engine.errors import InvalidRequest, MissingInput
from engine.request import SongRequest
from server.compatible.fields import renamed
from server.compatible.music import NO_WORDS, WITHOUT_EFFECT, drafted, read_composition, song_of
from server.compatible.music_plan import (
    MOST_STYLE_CHARACTERS,
    ChunkedPlan,
    MusicPrompt,
    Section,
    SongPlan,
    plan_of,
)

SECTIONS: dict[str, Any] = {
    "positive_global_styles": ["folk", "warm"],
    "negative_global_styles": ["drums", "autotune"],
    "sections": [
        {
            "section_name": "Verse 1",
            "positive_local_styles": ["soft", "instrumental", "Folk"],
            "negative_local_styles": ["bass"],
            "duration_ms": 15_000,
            "lines": ["The river runs"],
        },
        {"section_name": "Chorus", "duration_ms": 20_500, "lines": ["Sing it", "loud"]},
    ],
}
CHUNKS: dict[str, Any] = {
    "chunks": [{"text": "[Verse]\nThe river runs", "duration_ms": 9_000, "positive_styles": ["folk"]}]
}


def song(payload: dict[str, Any], *, keeps_time: bool = True) -> tuple[SongRequest, tuple[str, ...]]:
    return song_of(read_composition(payload, ""), keeps_time=keeps_time)


def test_a_prompt_without_more_is_a_style_alone() -> None:
    request, notes = song({"prompt": "folk, warm. 84 BPM"})
    assert request == SongRequest(style="folk, warm, 84 BPM")
    assert notes == (NO_WORDS,)


@pytest.mark.parametrize(
    "payload", [{"prompt": "folk, Instrumental"}, {"prompt": "folk", "force_instrumental": True}]
)
def test_whoever_wants_nobody_to_sing_is_told_nothing(payload: dict[str, Any]) -> None:
    assert song(payload)[1] == ()


def test_a_length_becomes_headings_that_tell_times_where_the_model_reads_them() -> None:
    payload: dict[str, Any] = {"prompt": "pop, no drums", "music_length_ms": 30_000, "seed": 4}
    request, notes = song(payload)
    assert request.lyrics == "[Intro, 4.619 s]\n\n[Verse, 9.238 s]\n\n[Chorus, 9.238 s]\n\n[Outro, 4.705 s]"
    assert (request.style, request.duration, request.seed, request.lm_seed) == ("pop, no drums", 30.0, 4, 4)
    assert notes == (NO_WORDS,)


def test_to_another_model_a_length_is_a_bound() -> None:
    request, notes = song({"prompt": "pop, no drums", "music_length_ms": 600_000}, keeps_time=False)
    assert (request.style, request.lyrics, request.longest_seconds) == ("pop", "", 600.0)
    assert notes == ("Styles to avoid that have no effect here: drums.",)


def test_a_plan_of_sections_becomes_lyrics_and_tags() -> None:
    request, notes = song({"composition_plan": SECTIONS, "respect_sections_durations": True})
    assert request.style == "folk, warm, soft, no drums"
    assert request.lyrics == "[Verse 1, 15 s]\nThe river runs\n\n[Chorus, 18.3 s]\nSing it\nloud"
    assert request.duration == 35.5
    assert notes[:2] == (
        "The styles of single sections count for the whole song.",
        "Styles to avoid that have no effect here: bass, autotune.",
    )


def test_another_model_is_not_told_times_and_says_so() -> None:
    request, notes = song({"composition_plan": CHUNKS}, keeps_time=False)
    assert (request.style, request.lyrics, request.duration) == ("folk", "[Verse]\nThe river runs", 9.0)
    assert len(notes) == 1
    assert "chooses how long each section lasts" in notes[0]


@pytest.mark.parametrize("plan", [SECTIONS | {"negative_global_styles": ["Vocals"]}, SECTIONS])
def test_a_song_that_nobody_is_to_sing_has_sections_without_words(plan: dict[str, Any]) -> None:
    request, _ = song({"composition_plan": plan, "force_instrumental": plan is SECTIONS})
    assert request.lyrics == "[Verse 1, 15 s]\n\n[Chorus, 18.3 s]"
    assert request.style.endswith("instrumental")


def test_what_has_no_effect_is_said_so() -> None:
    composition = read_composition(
        {"prompt": "pop", "sign_with_c2pa": True, "store_for_inpainting": True, "force_instrumental": None},
        "",
    )
    assert composition.notes == tuple(WITHOUT_EFFECT.values())


@pytest.mark.parametrize(
    ("model", "form"),
    [
        (None, AudioForm("mp3", 128, 44_100)),
        ("music_v1", AudioForm("mp3", 128, 44_100)),
        ("music_v2", AudioForm("mp3", 192, 48_000)),
        ("music_v2_5", AudioForm("mp3", 192, 48_000)),
        ("sketch", AudioForm("mp3", 128, 44_100)),
    ],
)
def test_the_model_decides_the_form_and_stands_for_ours(model: str | None, form: AudioForm) -> None:
    composition = read_composition({"prompt": "pop", "model_id": model}, "auto")
    assert composition.form == form
    assert composition.model == ("sketch" if model == "sketch" else "")


def test_either_shape_of_plan_goes_with_either_model() -> None:
    for plan, model in ((SECTIONS, "music_v2"), (CHUNKS, "music_v1")):
        assert read_composition({"composition_plan": plan, "model_id": model}, "").milliseconds


def test_styles_beyond_what_a_request_holds_are_cut_and_said_to_be() -> None:
    request, notes = song(
        {"prompt": ", ".join(f"tag {number:05d}" for number in range(372)), "force_instrumental": True}
    )
    assert len(request.style) <= 4_000
    assert request.style.endswith("tag 00361, instrumental")
    assert notes == ("Only the first 3980 characters of the styles count.",)


@pytest.mark.parametrize(
    ("payload", "field", "sentence"),
    [
        ({"prompt": "x" * 4_101}, "prompt", "at most 4100 characters"),
        ({"prompt": 4}, "prompt", "must be text"),
        ({"prompt": "a", "music_length_ms": 2_999}, "music_length_ms", "between 3000 and 600000"),
        ({"prompt": "a", "music_length_ms": 600_001}, "music_length_ms", "between 3000 and 600000"),
        ({"prompt": "a", "seed": -1}, "seed", "seed must be"),
        ({"prompt": "a", "finetune_id": "x"}, "finetune_id", "no finetunes"),
        ({"prompt": "a", "force_instrumental": "yes"}, "force_instrumental", "true or false"),
        ({"prompt": "a", "model_id": "tts-1"}, "model_id", "makes songs"),
        ({"prompt": "a", "composition_plan": SECTIONS}, "composition_plan", "not both"),
        ({"composition_plan": SECTIONS, "music_length_ms": 5_000}, "music_length_ms", "leave it out"),
        ({"composition_plan": {"sections": []}}, "composition_plan.sections", "must not be empty"),
        ({"composition_plan": 3}, "composition_plan", "a JSON object"),
        (
            {"composition_plan": {"chunks": [{"text": "a"}]}},
            "composition_plan.chunks.0.duration_ms",
            "is required",
        ),
        (
            {"composition_plan": {"sections": [SECTIONS["sections"][1] | {"duration_ms": 120_000}] * 6}},
            "composition_plan",
            "720000 ms together",
        ),
    ],
)
def test_what_is_wrong_is_told_in_the_callers_words(
    payload: dict[str, Any], field: str, sentence: str
) -> None:
    with pytest.raises(InvalidRequest, match=sentence) as refused:
        read_composition(payload, "")
    assert refused.value.field == field


@pytest.mark.parametrize("payload", [{}, {"prompt": " "}, {"prompt": None, "composition_plan": None}])
def test_something_has_to_be_asked_for(payload: dict[str, Any]) -> None:
    with pytest.raises(MissingInput, match="or a composition_plan") as refused:
        read_composition(payload, "")
    assert refused.value.field == "prompt"
    with pytest.raises(MissingInput):
        drafted(payload)


def test_words_beyond_what_a_request_holds_are_told_of_the_plan() -> None:
    long = SECTIONS["sections"][1] | {"lines": ["x" * 200] * 30, "duration_ms": 3_000}
    with pytest.raises(InvalidRequest, match="composition_plan must have at most 32000") as refused:
        song({"composition_plan": {"sections": [long] * 6}})
    assert refused.value.field == "composition_plan"


def plan_in(answer: Any) -> SongPlan:
    shape = ChunkedPlan if "chunks" in answer else MusicPrompt
    return plan_of(shape.model_validate(answer))


@pytest.mark.parametrize("model", ["music_v1", "music_v2"])
def test_a_drafted_plan_is_composed_as_the_prompt_would_be(model: str) -> None:
    payload: dict[str, Any] = {
        "prompt": "folk, no drums\n[Verse]\nThe river runs",
        "music_length_ms": 24_000,
        "model_id": model,
    }
    plan = drafted(payload)
    assert plan.model == ""
    assert ("chunks" in plan.answer) is (model == "music_v2")
    planned, _ = song({"composition_plan": plan.answer, "model_id": model})
    assert planned == song(payload)[0]


def test_a_plan_begins_with_the_one_to_start_from() -> None:
    answer = drafted({"prompt": "jazz, no bass", "source_composition_plan": SECTIONS}).answer
    plan = plan_in(answer)
    assert plan.styles == ("jazz", "folk", "warm")
    assert plan.avoided == ("bass", "drums", "autotune")
    assert plan.sections == plan_in(SECTIONS).sections


def test_words_of_a_prompt_take_the_place_of_a_plans() -> None:
    payload: dict[str, Any] = {
        "prompt": "jazz\n[Hook]\nla la",
        "source_composition_plan": CHUNKS,
        "music_length_ms": 10_000,
    }
    sung = [section for section in plan_in(drafted(payload).answer).sections if section.lines]
    assert [(section.name, section.lines) for section in sung] == [("Hook", ("la la",))]


def test_a_heading_holds_what_a_name_may_hold() -> None:
    plan = {"sections": [SECTIONS["sections"][1] | {"section_name": f"[A] {'b' * 90}"}]}
    request, _ = song({"composition_plan": plan})
    assert request.lyrics.startswith(f"[A {'b' * 58}, 18.3 s]\n")
    assert Section("A").lines == ()


def test_sections_that_come_again_are_written_out() -> None:
    request, _ = song({"prompt": "pop\n[Verse x2, 20 s]\nla\n[Solo] x2\n[Outro]\n(x3)\nlo"})
    assert request.lyrics.split("\n\n") == [
        *["[Verse, 10 s]\nla"] * 2,
        *["[Solo]"] * 2,
        *["[Outro]\nlo"] * 3,
    ]


@pytest.mark.parametrize("name", ["Chorus x2", "Chorus, 30 s", "Chorus (x3)", "Chorus 2x, 4 s"])
def test_a_foreign_name_opens_one_section_of_the_time_that_is_told(name: str) -> None:
    sections = [
        SECTIONS["sections"][1] | {"section_name": name, "duration_ms": 8_000, "lines": ["(x2)", "la"]}
    ]
    assert song({"composition_plan": {"sections": sections}})[0].lyrics == "[Chorus, 5.8 s]\nla"


@pytest.mark.parametrize(("prompt", "keeps_time"), [("no drums", False), ("!!!", True), (" ... ", False)])
def test_a_prompt_that_reads_as_nothing_is_the_style_as_it_stands(prompt: str, keeps_time: bool) -> None:
    assert song({"prompt": prompt}, keeps_time=keeps_time)[0].style == prompt.strip()


@pytest.mark.parametrize("length", [3_999, 4_000, 4_001, 4_002, 4_003])
def test_a_style_is_cut_where_a_request_ends(length: int) -> None:
    tags = ", ".join(f"{number:03d}" + "y" * 195 for number in range(19))
    request, notes = song({"prompt": tags + ", " + "z" * (length - len(tags) - 2)})
    assert len(request.style) == length if length <= 4_000 else len(request.style) < 4_000
    assert any("Only the first" in note for note in notes) is (length > 4_000)
    unsung, _ = song(
        {"prompt": tags + ", " + "z" * (length - len(tags) - 2 - 14), "force_instrumental": True}
    )
    assert (len(unsung.style) == length) is (length <= 4_000)
    assert unsung.style.endswith(", instrumental")


def test_styles_to_leave_out_never_take_all_the_room() -> None:
    avoided = [f"{number:03d} {'x' * 80} drums" for number in range(80)]
    plan = SECTIONS | {"negative_global_styles": avoided}
    request, notes = song({"composition_plan": plan})
    assert request.style.startswith("folk, warm, soft, no 000")
    assert any("more" in note for note in notes)


@pytest.mark.parametrize("shape", [SECTIONS, CHUNKS])
@pytest.mark.parametrize("model", [None, "music_v1", "music_v2"])
def test_a_plan_is_answered_in_chunks_where_it_came_so_or_the_model_has_them(
    shape: Any, model: str | None
) -> None:
    chunked = shape is CHUNKS or model == "music_v2"
    assert read_composition({"composition_plan": shape, "model_id": model}, "").is_later is chunked
    answer = drafted({"prompt": "jazz", "source_composition_plan": shape, "model_id": model}).answer
    assert ("chunks" in answer) is chunked


def test_styles_of_a_plan_are_bounded_together() -> None:
    styles = [f"{number:03d}" + "x" * 190 for number in range(60)]
    plan = SECTIONS | {"positive_global_styles": styles}
    with pytest.raises(InvalidRequest, match=f"together; at most {MOST_STYLE_CHARACTERS}") as refused:
        read_composition({"composition_plan": plan}, "")
    assert refused.value.field == "composition_plan"
    with pytest.raises(InvalidRequest, match="source_composition_plan have") as refused:
        drafted({"prompt": "a", "source_composition_plan": plan})
    assert refused.value.field == "source_composition_plan"


@pytest.mark.parametrize(
    ("payload", "source", "length"),
    [
        ({"prompt": "a", "music_length_ms": 9_000}, "prompt", "music_length_ms"),
        ({"composition_plan": SECTIONS}, "composition_plan", "composition_plan"),
    ],
)
def test_what_a_model_refuses_is_told_in_the_vendors_names(payload: Any, source: str, length: str) -> None:
    names = read_composition(payload, "").words
    for field, named in (("lyrics", source), ("style", source), ("semantic_sampling.max_tokens", length)):
        with pytest.raises(InvalidRequest) as refused, renamed(names):
            raise InvalidRequest(field, f"It needs 15000 for {field}. Shorten {field}.")
        assert refused.value.field == named
        assert str(refused.value).endswith(f"Shorten {named}.")
