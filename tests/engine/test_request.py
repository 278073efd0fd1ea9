"""Requests: fields, defaults, bounds, rules between fields, seeds and replays."""

import json
from itertools import count

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.bitrates import MP3_BITRATES_KBPS
from engine.errors import InvalidRequest, MissingInput, UnknownField
from engine.request import (
    SketchRequest,
    SongRequest,
    read_sketch,
    read_song,
    replay_of,
    resolve_seeds,
)

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=6,
)


def refused(**fields: object) -> InvalidRequest:
    with pytest.raises(InvalidRequest) as caught:
        read_song({"style": "folk", **fields})
    return caught.value


def complaint(payload: object) -> str:
    try:
        read_sketch(payload)
    except InvalidRequest as error:
        return str(error)
    return ""


def test_leaving_everything_out_gives_the_documented_defaults() -> None:
    request = read_song({"style": "folk"}).model_dump(mode="json")
    assert request == {
        "model": "",
        "style": "folk",
        "lyrics": "",
        "abc": "",
        "abc_tokens": "",
        "cot": "full",
        "duration": 360.0,
        "lm_seed": -1,
        "seed": -1,
        "steps": 32,
        "lm_batch_size": 1,
        "synth_batch_size": 1,
        "cfg_scale": -1.0,
        "semantic_tokens": "",
        "keep_codes": 0,
        "lora": [],
        "output": "audio",
        "peak_clip": 10,
        "output_format": "mp3",
        "mp3_bitrate": 128,
        "fingerprint": None,
        "abc_sampling": {
            "temperature": 0.7,
            "top_p": 0.9,
            "top_k": 30,
            "repetition_penalty": 1.005,
            "penalty_window": 100,
            "min_tokens": 32,
            "max_tokens": 4096,
        },
        "semantic_sampling": {
            "temperature": 1.0,
            "top_p": 0.95,
            "top_k": 100,
            "repetition_penalty": 1.2,
            "penalty_window": 50,
            "min_tokens": 200,
            "max_tokens": 9000,
        },
    }


def test_sending_every_default_equals_leaving_it_out() -> None:
    request = read_song({"style": "folk"})
    assert read_song(json.loads(request.model_dump_json())) == request


@pytest.mark.parametrize(
    ("field", "lowest", "highest"),
    [
        ("steps", 1, 100),
        ("lm_batch_size", 1, 8),
        ("synth_batch_size", 1, 9),
        ("cfg_scale", 0, 20),
        ("peak_clip", 0, 999_999),
        ("lm_seed", -1, 2**63 - 1),
        ("seed", -1, 2**63 - 1),
    ],
)
def test_bounds_are_inclusive_and_what_lies_beyond_is_refused_by_name(
    field: str, lowest: int, highest: int
) -> None:
    for fine in (lowest, highest):
        assert getattr(read_song({"style": "folk", field: fine}), field) == fine
    for wrong in (lowest - 1 if field != "cfg_scale" else -0.5, highest + 1):
        assert refused(**{field: wrong}).field == field


@pytest.mark.parametrize(
    ("stage", "field", "wrong"),
    [
        ("abc_sampling", "temperature", 5.01),
        ("abc_sampling", "temperature", -0.01),
        ("abc_sampling", "top_p", 0),
        ("abc_sampling", "top_p", 1.01),
        ("semantic_sampling", "top_k", 0),
        ("semantic_sampling", "repetition_penalty", 0),
        ("semantic_sampling", "penalty_window", 0),
        ("semantic_sampling", "penalty_window", 101),
        ("semantic_sampling", "min_tokens", -1),
        ("semantic_sampling", "max_tokens", 0),
    ],
)
def test_sampling_has_bounds_of_its_own(stage: str, field: str, wrong: float) -> None:
    assert refused(**{stage: {field: wrong}}).field == f"{stage}.{field}"


@pytest.mark.parametrize("wrong", [True, "32", 32.5, 1e17, float("nan"), None, [32], {"a": 1}, 10**400])
def test_only_a_whole_number_is_a_whole_number(wrong: object) -> None:
    assert refused(steps=wrong).field == "steps"


@pytest.mark.parametrize(
    ("field", "sent"), [("steps", 32.0), ("lm_seed", -1.0), ("seed", 2.0**53), ("mp3_bitrate", 160.0)]
)
def test_a_float_without_a_fraction_is_a_whole_number(field: str, sent: float) -> None:
    read = getattr(read_song({"style": "folk", field: sent}), field)
    assert (read, type(read)) == (sent, int)
    assert read_sketch({"style": "folk", "bars": 3.0}).bars == 3
    assert refused(seed=2.0**53 + 2).field == "seed"


@pytest.mark.parametrize("wrong", [True, "30", None, float("nan"), float("inf"), 10**400, 0, -1])
def test_a_duration_is_a_finite_positive_number(wrong: object) -> None:
    assert refused(duration=wrong).field == "duration"


def test_a_whole_number_is_a_number() -> None:
    assert read_song({"style": "folk", "duration": 30}).duration == 30.0


@pytest.mark.parametrize("payload", [None, 5, "text", [], [{"style": "folk"}]])
def test_a_request_is_an_object(payload: object) -> None:
    with pytest.raises(InvalidRequest, match="must be a JSON object"):
        read_song(payload)


@pytest.mark.parametrize("payload", [{}, {"style": " \n"}, {"style": "", "lyrics": "\t", "abc": ""}])
def test_style_lyrics_or_a_score_is_required(payload: object) -> None:
    with pytest.raises(MissingInput, match="Send a style, lyrics or a score"):
        read_song(payload)


@pytest.mark.parametrize("field", ["style", "lyrics", "abc"])
def test_one_of_them_is_enough_and_stays_verbatim(field: str) -> None:
    assert getattr(read_song({field: " Ä b\n"}), field) == " Ä b\n"


@pytest.mark.parametrize(("field", "longest"), [("style", 4_000), ("lyrics", 32_000), ("abc", 262_144)])
def test_texts_have_a_longest_length(field: str, longest: int) -> None:
    read_song({field: "a" * longest})
    with pytest.raises(InvalidRequest, match=f"at most {longest} characters") as caught:
        read_song({field: "a" * (longest + 1)})
    assert caught.value.field == field


@pytest.mark.parametrize("wrong", ["a\0b", "\ud800"])
def test_text_is_whole_unicode_without_nul(wrong: str) -> None:
    error = refused(lyrics=wrong)
    assert error.field == "lyrics"
    assert str(error).isascii()


def test_an_unknown_field_is_named_before_anything_else_is_wrong() -> None:
    with pytest.raises(UnknownField, match="did you mean steps") as caught:
        read_song({"stepz": 1, "seed": "x"})
    assert caught.value.field == "stepz"


def test_an_unknown_field_inside_is_named_with_its_path() -> None:
    with pytest.raises(UnknownField) as caught:
        read_song({"style": "folk", "lora": [{"id": "a", "strength": 1}]})
    assert caught.value.field == "lora.0.strength"


def test_a_score_needs_a_score_stage() -> None:
    error = refused(abc="X:1", cot="off")
    assert error.field == "abc"
    assert "set cot to full or melody" in str(error)
    assert read_song({"style": "folk", "cot": "off", "abc": " "}).cot == "off"


def test_kept_codes_are_some_of_the_codes_sent() -> None:
    assert refused(keep_codes=1).field == "keep_codes"
    assert refused(keep_codes=4, semantic_tokens="1,2,3").field == "keep_codes"
    assert read_song({"style": "folk", "keep_codes": 3, "semantic_tokens": "1, 2 ,3"}).codes == (1, 2, 3)


@pytest.mark.parametrize("wrong", ["1,2,", "a", "1;2", "-1", "32768", "1,,2", "١", "1.5"])
def test_codes_are_whole_numbers_within_the_codebook(wrong: str) -> None:
    assert refused(semantic_tokens=wrong).field == "semantic_tokens"


def test_the_refusal_of_a_code_and_of_a_guidance_names_the_bounds() -> None:
    code = str(refused(semantic_tokens="1, 99999999"))
    assert code.endswith("must be comma-separated whole numbers from 0 to 32767; number 2 is '99999999'.")
    for scale in (30, -0.5, -2):
        wanted = "cfg_scale must be -1 (the protocol's own value) or between 0 and 20; you sent "
        assert str(refused(cfg_scale=scale)).startswith(wanted)


def test_codes_end_with_the_context() -> None:
    assert len(read_song({"style": "folk", "semantic_tokens": ",".join(["7"] * 24_576)}).codes) == 24_576
    assert refused(semantic_tokens=",".join(["7"] * 24_577)).field == "semantic_tokens"


def test_min_tokens_stay_within_max_tokens() -> None:
    error = refused(semantic_sampling={"max_tokens": 100})
    assert error.field == "semantic_sampling.min_tokens"
    assert "must not exceed max_tokens" in str(error)


def test_a_batch_of_seeds_stays_below_the_limit() -> None:
    assert refused(seed=2**63 - 1, synth_batch_size=2).field == "seed"
    assert refused(lm_seed=2**63 - 7, lm_batch_size=8).field == "lm_seed"
    assert read_song({"style": "folk", "lm_seed": 2**63 - 8, "lm_batch_size": 8}).lm_batch_size == 8


def test_bitrates_are_those_of_mp3() -> None:
    for rate in MP3_BITRATES_KBPS:
        assert read_song({"style": "folk", "mp3_bitrate": rate}).mp3_bitrate == rate
    assert "must be one of 32, 40" in str(refused(mp3_bitrate=100))


def test_a_message_says_what_is_allowed_and_what_was_sent() -> None:
    assert str(refused(steps=400)) == "steps must be between 1 and 100; you sent 400."
    assert str(refused(cot="of")) == 'cot must be one of full, melody, off; you sent "of".'


def test_word_times_of_a_replay_are_accepted_and_forgotten() -> None:
    request = read_song({"style": "folk", "words": [{"text": "sea", "start": 1.5}]})
    assert request == read_song({"style": "folk"})


def test_the_longest_track_is_capped_by_the_semantic_budget() -> None:
    assert read_song({"style": "folk", "duration": 1000}).longest_seconds == 360
    assert read_song({"style": "folk", "duration": 12.5}).longest_seconds == 12.5


def test_a_sketch_may_play_some_bars() -> None:
    whole, some = read_sketch({"abc": "X:1"}), read_sketch({"abc": "X:1", "from_bar": 5, "bars": 4})
    assert (whole.from_bar, whole.bars) == (1, None)
    assert (some.from_bar, some.bars) == (5, 4)
    for field in ("from_bar", "bars"):
        with pytest.raises(InvalidRequest, match=field):
            read_sketch({"abc": "X:1", field: 0})


def test_only_seeds_of_minus_one_are_drawn() -> None:
    draws = count(2**60 + 5)
    request = resolve_seeds(read_song({"style": "folk", "seed": 7}), lambda: next(draws))
    assert request.seed == 7
    assert 0 <= request.lm_seed < 2**53
    assert next(draws) == 2**60 + 6


def test_a_replay_is_one_track_with_the_seeds_it_used() -> None:
    request = read_song(
        {
            "style": "folk",
            "lm_seed": 10,
            "seed": 20,
            "lm_batch_size": 3,
            "synth_batch_size": 2,
            "output": "latents",
        }
    )
    replay = replay_of(request, 2, 1, model="sketch", abc="X:1", codes=(5, 6), words=[{"text": "sea"}])
    assert replay["words"] == [{"text": "sea"}]
    again = read_song(json.loads(json.dumps(replay)))
    assert (again.lm_seed, again.seed, again.lm_batch_size, again.synth_batch_size) == (12, 21, 1, 1)
    assert (again.abc, again.codes, again.output) == ("X:1", (5, 6), "latents")
    assert replay_of(again, 0, 0, model="sketch", abc="X:1", codes=(5, 6), words=[{"text": "sea"}]) == replay


def test_a_replay_without_a_score_stage_has_no_score() -> None:
    replay = replay_of(
        read_song({"style": "folk", "cot": "off", "seed": 1, "lm_seed": 1}), 0, 0, model="sketch", abc="X:1"
    )
    assert read_song(replay).abc == ""


def test_the_replay_of_a_whole_sketch_fits_every_operation() -> None:
    whole = replay_of(
        read_sketch({"style": "folk", "seed": 1, "lm_seed": 1}), 0, 0, model="sketch", abc="X:1"
    )
    part = replay_of(
        read_sketch({"style": "folk", "seed": 1, "lm_seed": 1, "bars": 2}), 0, 0, model="sketch", abc="X:1"
    )
    assert read_song(whole).abc == "X:1"
    assert read_sketch(part).bars == 2


def test_requests_do_not_change() -> None:
    request = read_song({"style": "folk"})
    with pytest.raises(ValueError, match="frozen"):
        request.__setattr__("style", "rock")
    assert hash(request) == hash(read_song({"style": "folk"}))


@pytest.mark.parametrize("shape", [SongRequest, SketchRequest])
def test_every_field_of_the_schema_is_described(shape: type[SongRequest]) -> None:
    schema = shape.model_json_schema()
    described = [schema, *schema["$defs"].values()]
    assert all("description" in field for part in described for field in part["properties"].values())
    assert all(part["additionalProperties"] is False for part in described)
    steps = schema["properties"]["steps"]
    assert (steps["type"], steps["minimum"], steps["maximum"]) == ("integer", 1, 100)
    assert schema["properties"]["mp3_bitrate"]["enum"] == list(MP3_BITRATES_KBPS)


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(st.sampled_from([*SketchRequest.model_fields, "", "x"]), JSON_VALUES, max_size=5)
    | JSON_VALUES
)
def test_any_payload_is_read_or_refused_with_a_sentence(payload: object) -> None:
    if problem := complaint(payload):
        assert problem.endswith((".", "?"))
        assert problem.encode()
    else:
        request = read_sketch(payload)
        assert request.style.strip() or request.lyrics.strip() or request.abc.strip()


def test_the_ids_of_a_score_are_numbers_below_the_control_tokens() -> None:
    request = read_song({"abc": "X:1", "abc_tokens": " 0, 151642 ,7"})
    assert request.score_ids == (0, 151_642, 7)
    assert read_song({"style": "folk"}).score_ids == ()


@pytest.mark.parametrize("wrong", ["151643", "1,,2", "x", "-1", "1" * 7, 5, ",".join(["1"] * 24_577)])
def test_what_is_no_list_of_a_score_s_ids_is_refused(wrong: object) -> None:
    assert refused(abc_tokens=wrong).field == "abc_tokens"


@pytest.mark.parametrize(
    "fine", [None, {}, {"device": "cpu", "threads": 2, "exact": True, "gap": None, "x": 0.5}]
)
def test_a_fingerprint_is_a_flat_object_or_nothing(fine: object) -> None:
    request = read_song({"style": "folk", "fingerprint": fine})
    assert request.fingerprint == fine
    assert read_song(json.loads(request.model_dump_json())) == request


@pytest.mark.parametrize(
    "wrong",
    [
        "cpu",
        [],
        {"device": {}},
        {"device": "x" * 201},
        {"x" * 201: 1},
        {"device": "\ud800"},
        {"device": float("nan")},
        {"device": 10**400},
        {str(n): n for n in range(33)},
        {1: 2},
    ],
)
def test_a_fingerprint_is_small(wrong: object) -> None:
    error = refused(fingerprint=wrong)
    assert error.field == "fingerprint"
    assert str(error).startswith("fingerprint must be null or a flat JSON object of at most 32 short entries")


def test_a_replay_tells_what_its_score_was_drawn_as_and_on_what() -> None:
    request = read_song(
        {"style": "folk", "fingerprint": {"device": "old"}, "abc_tokens": "9", "seed": 1, "lm_seed": 1}
    )
    plain = replay_of(request, 0, 0, model="sketch", abc="X:1")
    assert not {"abc_tokens", "fingerprint"} & set(plain)
    told = replay_of(
        request, 0, 0, model="sketch", abc="X:1", abc_tokens=(4, 5), fingerprint={"device": "cpu"}
    )
    assert (told["abc_tokens"], told["fingerprint"]) == ("4,5", {"device": "cpu"})
    assert read_song(told).score_ids == (4, 5)
    off = request.model_copy(update={"cot": "off"})
    assert "abc_tokens" not in replay_of(off, 0, 0, model="sketch", abc="X:1", abc_tokens=(4, 5))
