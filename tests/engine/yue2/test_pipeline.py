from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from engine import request as request_module
from engine.control import Uncontrolled
from engine.errors import CheckpointError, EngineError
from engine.request import read_song
from engine.request_types import parse_codes
from engine.song_model import Expected, Plan
from engine.yue2 import pipeline
from engine.yue2.files.digests import read_manifest, short_digest
from engine.yue2.machine.capacity import Capacity
from engine.yue2.machine.device import Memory
from engine.yue2.mastering import LATENTS_NOTE
from engine.yue2.pipeline import Yue2Model
from engine.yue2.text.tokenizer import Tokenizer
from engine.yue2.vocabulary import CODEC_FIRST
from tests.engine.yue2.conftest import Golden
from tests.engine.yue2.songs import (
    CODES,
    TUNE,
    Stopped,
    Watch,
    fingerprint,
    opened,
    replay,
    same,
    song,
    tracks,
)


@pytest.fixture(scope="module")
def digest_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("digests") / "verified.json"


@pytest.fixture(scope="module")
def model(model_folder: Path, vae_folder: Path, digest_file: Path) -> Yue2Model:
    return opened(model_folder, vae_folder, digest_file)


@pytest.fixture(scope="module")
def staged(
    model_folder: Path, vae_folder: Path, digest_file: Path, tokenizer: Tokenizer
) -> Iterator[Yue2Model]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "Tokenizer", lambda _: tokenizer)  # which takes as long to open as ten songs
        yield opened(model_folder, vae_folder, digest_file, residency="stage")


@pytest.fixture(scope="module")
def half(
    model_folder: Path, vae_folder: Path, digest_file: Path, tokenizer: Tokenizer
) -> Iterator[Yue2Model]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "Tokenizer", lambda _: tokenizer)
        yield opened(model_folder, vae_folder, digest_file, precision="auto")


@pytest.fixture(scope="module")
def reference(golden: Golden) -> dict[str, object]:
    """The prompt that the reference outputs were made with."""
    cases = golden.cases("prompt_cases")["cases"]
    case = next(one for one in cases if one["cot"] == "full" and one["abc"])
    return {"style": case["style"], "lyrics": case["lyrics"], "abc": case["abc"]}


SHORT = {"min_tokens": 1, "max_tokens": 2}
SEMANTIC = {
    "temperature": 1.0,
    "top_p": 0.95,
    "top_k": 100,
    "repetition_penalty": 1.2,
    "penalty_window": 50,
    "min_tokens": 8,
    "max_tokens": 32,
}


class TestReference:
    def test_codes_become_the_reference_s_sound(
        self, model: Yue2Model, golden: Golden, reference: dict[str, object]
    ) -> None:
        codes = ",".join(map(str, golden.arrays("nar")["codec"]))
        request = read_song(
            {**reference, "semantic_tokens": codes, "seed": 831001, "lm_seed": 0, "output": "latents"}
            | {"output_format": "wav32"}
        )
        (track,) = tracks(model, request)
        assert track.latents is not None
        np.testing.assert_allclose(track.latents, golden.arrays("nar")["latent_steps32"], atol=2e-5)
        np.testing.assert_allclose(track.samples, golden.arrays("vae")["e2e_raw"][0].T, atol=2e-4)
        assert (track.sample_rate_hz, track.seconds) == (48_000, len(track.samples) / 48_000)

    def test_a_seed_draws_the_reference_s_codes(
        self, model: Yue2Model, golden: Golden, reference: dict[str, object]
    ) -> None:
        request = read_song(
            {**reference, "lm_seed": 831001, "seed": 1, "steps": 1, "semantic_sampling": SEMANTIC}
        )
        drawn = golden.arrays("generate")["semantic_sampled_seed831001__tokens"] - CODEC_FIRST
        assert tracks(model, request)[0].replay["semantic_tokens"] == ",".join(map(str, drawn))

    def test_guidance_without_a_score_draws_the_reference_s_codes(
        self, model: Yue2Model, golden: Golden, reference: dict[str, object]
    ) -> None:
        fields = {**reference, "abc": "", "cot": "off", "lm_seed": 831001, "seed": 1, "steps": 1}
        request = read_song({**fields, "semantic_sampling": SEMANTIC})
        drawn = golden.arrays("generate")["off_cfg1.01_legacy_sampled__tokens"] - CODEC_FIRST
        assert tracks(model, request)[0].replay["semantic_tokens"] == ",".join(map(str, drawn))

    def test_a_plan_is_the_reference_s_score(
        self, model: Yue2Model, golden: Golden, reference: dict[str, object], tokenizer: Tokenizer
    ) -> None:
        sampling = {"min_tokens": 4, "max_tokens": 24}
        request = read_song({**reference, "abc": "", "lm_seed": 831001, "seed": 1, "abc_sampling": sampling})
        model.check_plan(request)
        drawn = golden.arrays("generate")["abc_sampled_seed831001__tokens"]
        watch = Watch()
        plan = model.plan(request, watch)
        assert plan.abc == tokenizer.decode([int(token) for token in drawn])
        assert watch.expected[-1] == ("score", len(drawn), "history")
        assert plan.notes == ("The score reached its budget of 24 tokens and was closed there.",)


class TestReplays:
    def test_codes_give_the_same_samples_as_drawing_them(self, model: Yue2Model) -> None:
        first = tracks(model, song(steps=2))
        watch = Watch()
        again = tracks(model, replay(first[0]), watch)
        assert same(first, again)
        assert watch.phases == ["acoustic", "decoding"]
        assert again[0].replay["semantic_tokens"] == first[0].replay["semantic_tokens"]

    def test_a_score_written_by_the_model_is_sung_again_from_its_very_tokens(self, model: Yue2Model) -> None:
        first = tracks(model, song())
        watch = Watch()
        again = tracks(model, replay(first[0], semantic_tokens=""), watch)
        assert same(first, again)
        assert watch.phases == ["semantic", "acoustic", "decoding"]
        assert again[0].replay == first[0].replay

    def test_an_edited_score_is_encoded_afresh(self, model: Yue2Model, tokenizer: Tokenizer) -> None:
        first = tracks(model, song())[0]
        edited = tracks(model, replay(first, abc="X:1", semantic_tokens=""))[0]
        assert edited.replay["abc_tokens"] == ",".join(map(str, tokenizer.encode("X:1")))
        assert edited.replay["abc"] == "X:1"

    @pytest.mark.parametrize("cot", ["full", "off"])
    def test_a_batch_is_its_songs_one_by_one(self, model: Yue2Model, cot: str) -> None:
        together = tracks(model, song(cot=cot, lm_batch_size=2, synth_batch_size=2, semantic_sampling=SHORT))
        single = [
            track
            for lm_seed in (3, 4)
            for seed in (5, 6)
            for track in tracks(model, song(cot=cot, lm_seed=lm_seed, seed=seed, semantic_sampling=SHORT))
        ]
        assert same(together, single)
        assert same(together, [again for track in together for again in tracks(model, replay(track))])
        seeds = [(track.replay["lm_seed"], track.replay["seed"]) for track in together]
        assert seeds == [(3, 5), (3, 6), (4, 5), (4, 6)]

    def test_songs_that_do_not_fit_together_are_made_in_groups(
        self, model: Yue2Model, tokenizer: Tokenizer
    ) -> None:
        allowed = replace(model._allowed, sequences=4, variations=2, songs=8)
        capacity = Capacity(model._sizes, allowed, Memory(0, 0))
        small = Yue2Model(model._source, capacity, tokenizer, model._machine, torch.float32)
        request = song(cot="off", lm_batch_size=2, synth_batch_size=3, semantic_sampling=SHORT)
        watch, whole = Watch(), tracks(model, request)
        groups = tracks(small, request, watch)
        for one, other in zip(groups, whole, strict=True):
            np.testing.assert_allclose(one.samples, other.samples, atol=2e-4)
        batches = [
            [(told["lm_batch"], told["synth_batch"]) for told in map(fingerprint, made)]
            for made in (groups, whole)
        ]
        assert batches == [[(2, 2)] * 6, [(1, 1)] * 6]
        assert watch.fractions("semantic") == sorted(watch.fractions("semantic"))

    def test_kept_codes_are_gone_on_from(self, model: Yue2Model) -> None:
        first = tracks(model, song())[0]
        going_on = replay(first, keep_codes=2, lm_seed=9, semantic_sampling={**CODES, "max_tokens": 6})
        more = tracks(model, going_on)
        kept, drawn = (str(track.replay["semantic_tokens"]).split(",") for track in (first, more[0]))
        assert drawn[:2] == kept[:2]
        assert len(drawn) == 6
        assert drawn[2:4] != kept[2:]
        assert same(more, tracks(model, going_on))
        assert same(more, tracks(model, replay(more[0])))

    def test_latents_decode_to_the_samples_they_belong_to(self, model: Yue2Model) -> None:
        (first,) = tracks(model, song(output="latents"))
        request = song(output="latents")
        model.check(request, first.latents)
        watch = Watch()
        again = list(model.generate(request, watch, first.latents))
        assert same([first], again)
        assert watch.phases == ["decoding"]
        assert again[0].notes == (LATENTS_NOTE,)
        assert again[0].replay["semantic_tokens"] == ""

    def test_codes_without_a_score_have_an_empty_one(self, model: Yue2Model) -> None:
        (track,) = tracks(model, song(semantic_tokens="1,2,3"))
        assert (track.replay["abc"], "abc_tokens" in track.replay) == ("", False)
        assert same([track], tracks(model, replay(track)))

    def test_a_fingerprint_tells_what_differs(self, model: Yue2Model) -> None:
        (first,) = tracks(model, song())
        assert first.replay["fingerprint"] == {
            "device": model.describe()["device"],
            "torch": torch.__version__,
            "threads": torch.get_num_threads(),
            "precision": "fp32",
            "state": "float32",
            "weights": short_digest(read_manifest(model._source.model_folder)),
            "vae": short_digest(read_manifest(model._source.vae_folder)),
            "lm_batch": 1,
            "synth_batch": 1,
            "tile_frames": 256,
        }
        assert model.notes(replay(first)) == ()
        elsewhere = replay(first, fingerprint={"precision": "bf16", "device": "A card"})
        (note,) = model.notes(elsewhere)
        assert "precision bf16 there, fp32 here" in note
        assert note in tracks(model, elsewhere)[0].notes

    def test_latents_know_nothing_of_what_they_were_made_with(self, model: Yue2Model) -> None:
        (first,) = tracks(model, song(output="latents"))
        elsewhere = replay(first, semantic_tokens="", fingerprint={"precision": "bf16", "weights": "0" * 12})
        assert model.notes(elsewhere, first.latents) == ()
        (again,) = model.generate(elsewhere, Watch(), first.latents)
        assert again.notes == (LATENTS_NOTE,)
        other = replay(first, fingerprint={"vae": "0" * 12})
        (note,) = model.notes(other, first.latents)
        assert "other weights (of the audio codec 000000000000 there" in note
        assert note in next(model.generate(other, Watch(), first.latents)).notes

    def test_a_song_s_codes_are_read_once(self, model: Yue2Model, monkeypatch: pytest.MonkeyPatch) -> None:
        reads: list[str] = []

        def counted(text: str) -> tuple[int, ...]:
            reads.append(text)
            return parse_codes(text)

        request = song(semantic_tokens="1,2", synth_batch_size=2)
        monkeypatch.setattr(request_module, "parse_codes", counted)
        list(model.generate(request, Watch()))
        assert reads == ["1,2"]


class TestUndisturbed:
    def test_a_stop_anywhere_changes_no_later_song(self, model: Yue2Model) -> None:
        tracks(model, song())  # has everything loaded
        request, whole = song(semantic_sampling=SHORT), Watch()
        expected = tracks(model, request, whole)
        for stop_at in range(1, whole.checks, whole.checks // 6):
            with pytest.raises(Stopped):
                tracks(model, request, Watch(stop_at))
            assert same(expected, tracks(model, request))

    def test_a_stop_anywhere_changes_no_later_song_where_parts_come_and_go(
        self, model: Yue2Model, staged: Yue2Model
    ) -> None:
        request, whole = song(semantic_sampling=SHORT), Watch()
        expected = tracks(staged, request, whole)
        for stop_at in range(1, whole.checks, whole.checks // 3):
            with pytest.raises(Stopped):
                tracks(staged, request, Watch(stop_at))
        assert same(expected, tracks(staged, request))
        assert same(expected, tracks(model, request))

    def test_parts_loaded_one_by_one_sing_the_same(self, model: Yue2Model, staged: Yue2Model) -> None:
        request, watch = song(lm_batch_size=2, cot="melody", cfg_scale=2, semantic_sampling=SHORT), Watch()
        staged.unload()
        assert same(tracks(staged, request, watch), tracks(model, request))
        stages = ["score", "semantic", "loading", "acoustic", "loading", "decoding"]
        assert watch.phases == ["loading", *stages]
        assert (staged.describe()["residency"], model.describe()["residency"]) == ("stage", "keep")

    def test_unloading_changes_no_later_song(self, model: Yue2Model) -> None:
        first = tracks(model, song())
        model.unload()
        watch = Watch()
        assert same(first, tracks(model, song(), watch))
        assert watch.phases[0] == "loading"

    def test_half_precision_sings(self, half: Yue2Model) -> None:
        (track,) = tracks(half, song(output_format="mp3"))
        assert half.rates_id == "yue2 cpu fp16"
        assert track.samples.shape == (1920 * 4 - 64, 2)
        assert np.abs(track.samples).max() == 1.0
        assert same([track], tracks(half, replay(track)))

    def test_a_batch_in_half_precision_is_its_songs_one_by_one(self, half: Yue2Model) -> None:
        together = tracks(half, song(lm_batch_size=2, semantic_sampling=SHORT))
        single = [
            track for seed in (3, 4) for track in tracks(half, song(lm_seed=seed, semantic_sampling=SHORT))
        ]
        assert [track.replay for track in together] == [track.replay for track in single]
        assert same(together, single)
        assert [fingerprint(track)["lm_batch"] for track in together] == [1, 1]


class TestProgress:
    def test_phases_are_told_with_their_counters(self, model: Yue2Model) -> None:
        watch = Watch()
        tracks(model, song(synth_batch_size=2, steps=3), watch)
        assert [name for name in watch.phases if name != "loading"] == [
            "score",
            "semantic",
            "acoustic",
            "decoding",
        ]
        for phase in ("score", "semantic", "acoustic"):
            assert watch.fractions(phase) == sorted(watch.fractions(phase))
            assert watch.fractions(phase)[-1] == 1.0
        assert ("semantic", 0.5, {"tokens": 2, "songs": 1}) in watch.reports
        assert ("acoustic", 1.0, {"steps": 6, "of": 6}) in watch.reports
        assert watch.reports[-1] == ("decoding", 1.0, {"tiles": 1, "of": 1})

    def test_lengths_are_told_as_they_become_known(self, model: Yue2Model) -> None:
        watch = Watch()
        tracks(model, song(abc=TUNE, steps=16, semantic_sampling={"min_tokens": 0, "max_tokens": 8}), watch)
        assert watch.expected[:2] == [("semantic", 7, "score"), ("acoustic", 0.14, "score")]
        assert watch.expected[-1] == ("encoding", 0.32, "history")

    def test_a_score_that_is_no_tune_leaves_the_budget(self, model: Yue2Model) -> None:
        watch = Watch()
        tracks(model, song(abc="la la la"), watch)
        assert watch.expected[0] == ("semantic", 4, "budget")

    def test_stages_are_what_generate_goes_through(self, model: Yue2Model) -> None:
        model.unload()
        request, watch = song(), Watch()
        stages = model.stages(request)
        tracks(model, request, watch)
        assert [stage.phase for stage in stages] == [*watch.phases, "encoding"]
        assert "loading" not in {stage.phase for stage in model.stages(request)}
        assert model.plan_stages(song(abc=TUNE)) == []
        assert model.plan_stages(request) == [Expected("score", 3, "budget")]
        latents = np.zeros((50, 64), np.float32)
        assert model.stages(request, latents) == [Expected("decoding", 2.0), Expected("encoding", 2.0)]
        assert model.decode_stages(50) == [Expected("decoding", 2.0)]
        assert [stage.phase for stage in model.encode_stages(2.0)] == ["loading", "analysing"]

    def test_a_staged_model_loads_every_part_anew(self, staged: Yue2Model) -> None:
        staged.unload()
        stages = [stage.phase for stage in staged.stages(song())]
        rest = ["acoustic", "loading", "decoding", "encoding"]
        assert stages == ["loading", "score", "semantic", "loading", *rest]


class TestOutcomes:
    def test_cuts_are_told(self, model: Yue2Model) -> None:
        (track,) = tracks(model, song())
        assert track.notes == (
            "The score reached its budget of 3 tokens and was closed there.",
            "The song was cut at 0.16 seconds, where its budget ends.",
        )
        (cut,) = tracks(model, song(semantic_tokens="1,2,3", duration=0.08))
        assert cut.notes == ("The song was cut at 0.08 seconds, where its budget ends.",)
        assert cut.replay["semantic_tokens"] == "1,2"

    def test_a_song_that_ends_before_it_begins_is_an_error(
        self, model: Yue2Model, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from engine.yue2 import writing
        from engine.yue2.decoding.takes import Decoded

        monkeypatch.setattr(writing, "decode", lambda *_, **__: [Decoded((), False)])
        with pytest.raises(EngineError, match="lm_seed 3 the model ended the song before its first sound"):
            tracks(model, song(abc=TUNE))

    def test_a_given_score_is_its_own_plan(self, model: Yue2Model) -> None:
        assert model.plan(song(abc="any words"), Uncontrolled()) == Plan("any words")

    def test_a_plan_is_one_score_whatever_else_was_asked_for(self, model: Yue2Model) -> None:
        asked = song(lm_batch_size=3, semantic_tokens="1,2")
        assert model.plan(asked, Watch()) == model.plan(song(), Watch())

    def test_songs_are_brought_to_full_scale_but_for_32_bit_files(self, model: Yue2Model) -> None:
        (raw,) = tracks(model, song())
        (level,) = tracks(model, song(output_format="flac", peak_clip=0))
        peak = np.abs(raw.samples).max()
        np.testing.assert_allclose(level.samples, raw.samples / peak, rtol=1e-6)
        untouched = model.finished(raw.samples.copy(), "wav32", 0, Watch())
        np.testing.assert_array_equal(untouched, raw.samples)
        np.testing.assert_array_equal(model.finished(untouched, "flac", 0, Watch()), level.samples)
        with pytest.raises(Stopped):
            model.finished(untouched, "flac", 0, Watch(1))
        assert raw.latents is None


def test_sound_becomes_latents_and_sound_again(model: Yue2Model, golden: Golden) -> None:
    arrays, watch = golden.arrays("vae"), Watch()
    encoded = model.encode(np.ascontiguousarray(arrays["audio"][0].T), watch)
    np.testing.assert_allclose(encoded.latents, arrays["enc_mean"][0].T, atol=2e-4)
    assert watch.phases == ["loading", "analysing"]
    model.check_latents(encoded.latents)
    decoded = model.decode(np.ascontiguousarray(arrays["latent"][0].T), Watch())
    assert (encoded.notes, decoded.notes) == ((), ())
    np.testing.assert_allclose(decoded.samples, arrays["decoded"][0].T, atol=2e-4)
    assert (model.latent_channels, model.sample_rate_hz, model.shortest_seconds) == (64, 48_000, 0.04)


def test_numerics_are_pinned_where_a_model_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pinned: list[str] = []
    monkeypatch.setattr(pipeline, "pin_numerics", lambda: pinned.append("pinned"))
    with pytest.raises(CheckpointError):
        opened(tmp_path, tmp_path, tmp_path / "verified.json")
    assert pinned == ["pinned"]
