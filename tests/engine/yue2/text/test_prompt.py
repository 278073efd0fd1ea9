import pytest

from engine.errors import InvalidRequest
from engine.request import SongRequest, read_song
from engine.yue2.text.prompt import Prompts, guidance, prompt_text, score_text, semantic_budget
from engine.yue2.text.tokenizer import Tokenizer
from engine.yue2.vocabulary import TEXT_IDS
from tests.engine.yue2.conftest import Golden


@pytest.fixture(scope="session")
def prompts(tokenizer: Tokenizer) -> Prompts:
    return Prompts(tokenizer)


def song(**fields: object) -> SongRequest:
    return read_song({"style": "folk", **fields})


def words(count: int) -> str:
    """A text of exactly so many tokens, wherever it stands."""
    return "歌" * count


def test_prefixes_are_the_references(prompts: Prompts, golden: Golden) -> None:
    cases = golden.cases("prompt_cases")
    assert {case["cot"] for case in cases["cases"]} == {"full", "melody", "off"}
    for case in cases["cases"]:
        cot, style, lyrics = case["cot"], case["style"], case["lyrics"]
        score = prompts.score_ids(case["abc"] or "")
        assert prompt_text(style, lyrics, cot) == case["text"]
        assert score == tuple(case["abc_ids"])
        assert prompts.open_prefix(style, lyrics, cot) == tuple(case["open_prefix"])
        if case["semantic_prefix"] is not None:
            assert prompts.semantic_prefix(style, lyrics, cot, score) == tuple(case["semantic_prefix"])
            assert prompts.negative_prefix(cot, score) == tuple(case["negative_prefix"])
        assert guidance(cot, -1) == case["guidance_default"]


def test_a_sent_guidance_is_taken() -> None:
    assert [guidance("off", scale) for scale in (0.0, 1.0, 2.5)] == [0.0, 1.0, 2.5]


def test_the_ids_that_a_score_was_drawn_as_are_used_where_they_spell_it(
    prompts: Prompts, tokenizer: Tokenizer
) -> None:
    encoded = tokenizer.encode("X:1\nK:C\n")
    drawn = [token for letter in "X:1\nK:C\n" for token in tokenizer.encode(letter)]
    assert tuple(drawn) != encoded
    assert prompts.score_ids("X:1\nK:C\n", drawn) == tuple(drawn)
    assert prompts.score_ids("X:1\nK:D\n", drawn) == tokenizer.encode("X:1\nK:D\n")
    assert prompts.score_ids("", ()) == ()
    assert max(prompts.score_ids("<abc></abc>")) < TEXT_IDS


def test_ids_that_stand_for_a_nul_are_those_that_are_sung_and_that_are_counted(
    prompts: Prompts, tokenizer: Tokenizer
) -> None:
    drawn = tuple(token for letter in "CDEF\0" for token in tokenizer.encode(letter))
    text = score_text(tokenizer, drawn)
    assert (text, len(tokenizer.encode(text)) < len(drawn)) == ("CDEF\ufffd", True)
    assert prompts.score_ids(text, drawn) == drawn
    asked = song(abc=text, abc_tokens=",".join(map(str, drawn)))
    frame = len(prompts.semantic_prefix("folk", words(1), "full", drawn)) - 1
    longest = asked.model_copy(update={"lyrics": words(24_576 - 9_000 - frame)})
    prompts.check(longest)
    with pytest.raises(InvalidRequest):
        prompts.check(longest.model_copy(update={"lyrics": words(24_576 - 9_000 - frame + 1)}))


def test_the_duration_caps_the_codes() -> None:
    assert semantic_budget(song()) == 9_000
    assert semantic_budget(song(duration=10.5)) == 262
    assert semantic_budget(song(duration=0.001)) == 1
    assert semantic_budget(song(duration=1.16)) == 29  # a product of 28.999999999999996
    assert semantic_budget(song(duration=1e300, semantic_sampling={"max_tokens": 13_500})) == 13_500
    assert semantic_budget(song(duration=540)) == 9_000


def test_an_ordinary_request_fits(prompts: Prompts) -> None:
    prompts.check(song(lyrics=words(3_000)))
    prompts.check_plan(song(lyrics=words(3_000)))


@pytest.mark.parametrize("cot", ["full", "melody", "off"])
def test_a_request_may_fill_the_context_to_the_last_token(prompts: Prompts, cot: str) -> None:
    empty = song(cot=cot, lyrics="")
    frame = len(prompts.semantic_prefix("folk", words(1), empty.cot, ())) - 1
    drawn = 9_000 if cot == "off" else 9_000 + 4_096
    longest = 24_576 - drawn - frame
    prompts.check(song(cot=cot, lyrics=words(longest)))
    with pytest.raises(InvalidRequest) as refused:
        prompts.check(song(cot=cot, lyrics=words(longest + 1)))
    assert refused.value.field == "lyrics"


def test_the_refusal_of_long_lyrics_says_how_long_they_are_and_what_to_shorten(prompts: Prompts) -> None:
    with pytest.raises(InvalidRequest) as refused:
        prompts.check(song(lyrics=words(20_000), cot="off"))
    assert refused.value.field == "lyrics"
    assert str(refused.value) == (
        "The prompt has 20024 tokens (style 1, lyrics 20000), which leaves 4552 of the model's 24576; it needs 9000 "
        "for semantic_sampling.max_tokens. Shorten lyrics, or lower semantic_sampling.max_tokens."
    )


def test_a_raised_budget_is_to_blame_where_its_default_would_fit(prompts: Prompts) -> None:
    raised = song(duration=900, semantic_sampling={"max_tokens": 22_000})
    with pytest.raises(
        InvalidRequest, match=r"needs 4096 for abc_sampling\.max_tokens and 22000 for semantic"
    ) as refused:
        prompts.check(raised)
    assert refused.value.field == "semantic_sampling.max_tokens"
    with pytest.raises(InvalidRequest, match=r"Lower abc_sampling\.max_tokens, or shorten style") as refused:
        prompts.check(song(abc_sampling={"max_tokens": 20_000}))
    assert refused.value.field == "abc_sampling.max_tokens"
    prompts.check(
        song(duration=800, abc_sampling={"max_tokens": 32}, semantic_sampling={"max_tokens": 20_000})
    )


def test_a_score_that_is_too_long_is_to_blame(prompts: Prompts) -> None:
    with pytest.raises(InvalidRequest, match=r"abc 20000\), .* Shorten abc") as refused:
        prompts.check(song(abc=words(20_000)))
    assert refused.value.field == "abc"
    prompts.check(song(abc=words(15_000)))


def test_a_replay_of_codes_needs_room_for_a_frame_alone(prompts: Prompts) -> None:
    replay = {"abc": "X", "semantic_tokens": "1,2,3"}
    frame = len(prompts.semantic_prefix("folk", "", "full", prompts.score_ids(words(1)))) - 1
    most = 24_576 - 5 - frame
    prompts.check(song(**replay | {"abc": words(most)}))
    with pytest.raises(
        InvalidRequest, match=r"leaves 4 of .*; it needs 5 for the sound\. Shorten abc\."
    ) as refused:
        prompts.check(song(**replay | {"abc": words(most + 1)}))
    assert refused.value.field == "abc"
    with pytest.raises(InvalidRequest, match=r"needs 9000 for semantic_sampling\.max_tokens"):
        prompts.check(song(**replay | {"abc": words(most), "keep_codes": 2}))


def test_one_token_left_is_no_room_for_the_sound(prompts: Prompts) -> None:
    frame = len(prompts.semantic_prefix("folk", words(1), "off", ())) - 1
    most = 24_576 - 5 - frame
    shortest = {"cot": "off", "semantic_sampling": {"min_tokens": 0, "max_tokens": 1}}
    prompts.check(song(lyrics=words(most), **shortest))
    with pytest.raises(
        InvalidRequest, match=r"leaves 4 of .*; it needs 1 for .* and 5 for the sound\. Shorten"
    ):
        prompts.check(song(lyrics=words(most + 1), **shortest))


def test_a_plan_needs_room_for_the_score_alone(prompts: Prompts) -> None:
    long = song(lyrics=words(12_000))
    prompts.check_plan(long)
    with pytest.raises(InvalidRequest, match=r"it needs 4096 for abc_sampling\.max_tokens and 9000 for"):
        prompts.check(long)
    with pytest.raises(InvalidRequest, match=r"it needs 4096 for abc_sampling\.max_tokens\. Shorten lyrics"):
        prompts.check_plan(song(lyrics=words(21_000)))
    prompts.check_plan(song(abc=words(60_000)))
    prompts.check_plan(song(cot="off", lyrics=words(30_000)))
