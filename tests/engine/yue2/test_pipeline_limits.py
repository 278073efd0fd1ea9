"""What the model refuses before it begins, and what it does where memory runs out."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from engine.errors import InvalidRequest, NumericalError, OutOfMemory
from engine.request import SongRequest
from engine.song_model import Latents
from engine.yue2 import parts, pipeline, rendering, writing
from engine.yue2.decoding.lockstep import decode
from engine.yue2.machine.economy import NOTE
from engine.yue2.network import flow
from engine.yue2.pipeline import Yue2Model
from engine.yue2.text.tokenizer import Tokenizer
from engine.yue2.vae import autoencoder as vae
from engine.yue2.vae.autoencoder import Vae
from engine.yue2.vae.parts import load_encoder_part
from tests.engine.yue2.songs import Watch, fingerprint, opened, replay, same, song, tracks

NO_ROOM = torch.OutOfMemoryError("CUDA out of memory.")
TALL = np.zeros((24_577, 64), np.float32)
NOT_A_NUMBER = np.full((3, 64), np.nan, np.float32)
FRAMES = np.zeros((3, 64), np.float32)


@pytest.fixture(scope="module")
def model(
    model_folder: Path, vae_folder: Path, tokenizer: Tokenizer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Yue2Model]:
    digest_file = tmp_path_factory.mktemp("digests") / "verified.json"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "Tokenizer", lambda _: tokenizer)
        yield opened(model_folder, vae_folder, digest_file, residency="keep")


@pytest.mark.parametrize(
    ("field", "request_", "latents"),
    [
        ("lora", song(lora=[{"id": "folk"}]), None),
        ("lora", song(lora=[{"id": "folk"}]), FRAMES),
        ("keep_codes", song(semantic_tokens="1,2,3,4,5", keep_codes=4), None),
        ("semantic_sampling.max_tokens", song(duration=990, semantic_sampling={"max_tokens": 24_560}), None),
        ("abc_sampling.max_tokens", song(duration=900, abc_sampling={"max_tokens": 24_576}), None),
        ("abc", song(abc="X:1 " * 9000), None),
        ("semantic_tokens", song(semantic_tokens="1"), FRAMES),
        ("lm_batch_size", song(lm_batch_size=2), FRAMES),
        ("synth_batch_size", song(synth_batch_size=2), FRAMES),
        ("latents", song(), TALL),
        ("latents", song(), TALL[:0]),
        ("latents", song(), TALL[:5, :63]),
        ("latents", song(), NOT_A_NUMBER),
    ],
)
def test_what_cannot_be_done_is_refused_by_name(
    model: Yue2Model, field: str, request_: SongRequest, latents: Latents | None
) -> None:
    with pytest.raises(InvalidRequest) as refused:
        model.check(request_, latents)
    assert refused.value.field == field
    assert str(refused.value).endswith(".")


@pytest.mark.parametrize(
    ("field", "fields"),
    [
        ("cot", {"cot": "off"}),
        ("lora", {"lora": [{"id": "folk"}]}),
        ("abc_sampling.max_tokens", {"abc_sampling": {"max_tokens": 24_576}}),
    ],
)
def test_a_plan_that_cannot_be_made_is_refused(
    model: Yue2Model, field: str, fields: dict[str, object]
) -> None:
    with pytest.raises(InvalidRequest) as refused:
        model.check_plan(song(**fields))
    assert refused.value.field == field


def test_any_text_is_a_score(model: Yue2Model) -> None:
    for text in ("la la la", "X:1\nK:C\n|:::|", "\ufffd"):
        model.check(song(abc=text))
        model.check_plan(song(abc=text))


class Scarcity:
    """Stands in for a function: fails so many times, then does what the function does."""

    def __init__(self, error: Exception, failures: int, original: Callable[..., object]) -> None:
        self.left = failures
        self._error = error
        self._original = original

    def __call__(self, *arguments: object, **named: object) -> object:
        if self.left:
            self.left -= 1
            raise self._error
        return self._original(*arguments, **named)


PLACES = [
    (parts, "load_decoder", MemoryError()),
    (writing, "decode", NO_ROOM),
    (parts, "load_acoustic", OutOfMemory("There is no room.")),
    (rendering, "solve", RuntimeError("DefaultCPUAllocator: can't allocate memory")),
    (vae, "load_decoder_part", NO_ROOM),
]


@pytest.mark.parametrize(("owner", "name", "error"), PLACES, ids=lambda value: str(value)[:20])
def test_a_song_is_finished_with_less_where_memory_runs_out(
    model: Yue2Model, monkeypatch: pytest.MonkeyPatch, owner: object, name: str, error: Exception
) -> None:
    request = song(synth_batch_size=2, abc="x", semantic_sampling={"min_tokens": 1, "max_tokens": 1})
    undisturbed = tracks(model, request)
    model.unload()
    with monkeypatch.context() as patch:
        scarcity = Scarcity(error, 1, getattr(owner, name))
        patch.setattr(owner, name, scarcity)
        watch = Watch()
        reduced = tracks(model, request, watch)
    assert scarcity.left == 0
    assert same(reduced, undisturbed)
    assert all(NOTE in track.notes for track in reduced)
    later = tracks(model, request)
    assert same(later, undisturbed)
    assert all(NOTE not in track.notes for track in later)


def test_memory_that_stays_away_is_an_error_and_leaves_the_model_usable(
    model: Yue2Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    undisturbed = tracks(model, song(semantic_tokens="1,2"))
    with monkeypatch.context() as patch:
        patch.setattr(rendering, "solve", Scarcity(NO_ROOM, 2, flow.solve))
        with pytest.raises(OutOfMemory, match="Even one song with one part of the model loaded"):
            tracks(model, song(semantic_tokens="1,2"))
    assert same(tracks(model, song(semantic_tokens="1,2")), undisturbed)


def test_smaller_tiles_are_tried_where_the_vae_runs_out(
    model: Yue2Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    tiles: list[int | None] = []
    original = Vae.decode

    def decode_small(
        self: Vae, latents: Latents, check: object, progress: object, core_frames: int
    ) -> object:
        tiles.append(core_frames)
        if core_frames > 100:
            raise NO_ROOM
        return original(self, latents, core_frames=core_frames)

    monkeypatch.setattr(Vae, "decode", decode_small)
    latents = np.random.default_rng(1).standard_normal((40, 64)).astype(np.float32)
    sound = model.decode(latents, Watch())
    assert (tiles, sound.notes) == ([256, 32], (NOTE,))
    (track,) = model.generate(song(), Watch(), latents)
    assert (fingerprint(track)["tile_frames"], NOTE in track.notes) == (32, True)
    monkeypatch.undo()
    whole = model.decode(latents, Watch())
    np.testing.assert_allclose(sound.samples, whole.samples, atol=2e-4)
    assert whole.notes == ()
    smaller = replay(track, fingerprint=fingerprint(track))
    assert "frames decoded together 32 there, 256 here" in model.notes(smaller, latents)[0]


def test_encoding_tells_where_memory_ran_out(model: Yue2Model, monkeypatch: pytest.MonkeyPatch) -> None:
    audio = np.zeros((3840, 2), np.float32)
    whole = model.encode(audio, Watch())
    model.unload()
    monkeypatch.setattr(vae, "load_encoder_part", Scarcity(NO_ROOM, 1, load_encoder_part))
    reduced = model.encode(audio, Watch())
    assert (whole.notes, reduced.notes) == ((), (NOTE,))
    np.testing.assert_array_equal(reduced.latents, whole.latents)


def test_a_song_whose_score_is_drawn_has_room_for_it_where_memory_runs_out(
    model: Yue2Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = song(abc_sampling={"min_tokens": 30, "max_tokens": 30})
    undisturbed = tracks(model, request)
    monkeypatch.setattr(rendering, "solve", Scarcity(NO_ROOM, 1, flow.solve))
    assert same(tracks(model, request), undisturbed)


def test_a_plan_needs_no_room_for_a_song_where_memory_runs_out(
    model: Yue2Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = song(semantic_sampling={"min_tokens": 200, "max_tokens": 9000})
    undisturbed = model.plan(request, Watch())
    monkeypatch.setattr(writing, "decode", Scarcity(NO_ROOM, 1, decode))
    reduced = model.plan(request, Watch())
    assert (reduced.abc, NOTE in reduced.notes) == (undisturbed.abc, True)
    assert model._parts._cache.capacity < 100


def test_numbers_that_are_none_are_an_error(model: Yue2Model, monkeypatch: pytest.MonkeyPatch) -> None:
    undisturbed = tracks(model, song(semantic_tokens="1,2"))
    with monkeypatch.context() as patch:
        patch.setattr(rendering, "noise", lambda seed, *shape: torch.full(shape, torch.nan))
        with pytest.raises(NumericalError):
            tracks(model, song(semantic_tokens="1,2"))
    assert same(tracks(model, song(semantic_tokens="1,2")), undisturbed)
