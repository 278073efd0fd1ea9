"""Requests turned into work for the queue."""

import io
import itertools
import json
import sys
import weakref
from collections.abc import Iterator

import numpy as np
import pytest
from pydantic import JsonValue

from engine.audio import AudioForm
from engine.catalogue import Catalogue
from engine.control import Control, Uncontrolled
from engine.errors import InvalidRequest, UnknownModel
from engine.request import SongRequest, read_sketch, read_song
from engine.sketch.pipeline import SketchModel
from engine.song_model import Expected, Latents, Track
from server.jobs.rates import RateBook, Stage
from server.jobs.tracker import StageTracker
from server.operations import SAME_SONGS, Operations
from server.work import Making, Stopwatch
from tests.server.yue2_double import Yue2Double

TUNE = "X:1\nM:4/4\nL:1/4\nQ:1/4=300\nK:C\nCDEF|\n"


@pytest.fixture(scope="module")
def operations() -> Operations:
    return Operations(Catalogue(), itertools.count(7).__next__)


def test_what_the_model_does_is_timed_as_model_work(operations: Operations) -> None:
    for prepared in (
        operations.sketch(read_sketch({"abc": TUNE})),
        operations.synth(read_song({"abc": TUNE})),
        operations.plan(read_song({"style": "folk"})),
    ):
        stopwatch = Stopwatch()
        prepared.work(Making("0" * 16, io.BytesIO(), Uncontrolled(), stopwatch))
        assert stopwatch.pipeline_seconds > 0


def test_naming_the_default_model_is_the_same_request(operations: Operations) -> None:
    named = operations.synth(read_song({"abc": TUNE, "model": "sketch"}))
    assert named.digest == operations.synth(read_song({"abc": TUNE})).digest


def test_seeds_are_fixed_before_the_job_starts_and_no_part_of_the_digest(operations: Operations) -> None:
    prepared = [operations.synth(read_song({"abc": TUNE})) for _ in range(2)]
    replays = []
    for one in prepared:
        sink = io.BytesIO()
        packed = one.work(Making("0" * 16, sink, Uncontrolled(), Stopwatch()))
        span = packed.parts[0]
        replays.append(json.loads(sink.getvalue()[span.offset : span.offset + span.length]))
    assert replays[0]["seed"] != replays[1]["seed"]
    assert prepared[0].digest == prepared[1].digest


def test_operations_with_the_same_fields_are_different_requests(operations: Operations) -> None:
    song = read_song({"style": "folk"})
    assert operations.synth(song).digest != operations.plan(song).digest


def test_what_no_model_can_do_is_refused_before_any_job(operations: Operations) -> None:
    with pytest.raises(UnknownModel):
        operations.synth(read_song({"style": "folk", "model": "none"}))
    with pytest.raises(InvalidRequest):
        operations.plan(read_song({"style": "folk", "cot": "off"}))
    with pytest.raises(InvalidRequest):
        operations.sketch(read_sketch({"abc": TUNE, "from_bar": 9}))


def test_latents_have_a_digest_of_their_own() -> None:
    singer = Operations(Catalogue(yue2=Yue2Double()), itertools.count().__next__)
    song = read_song({"style": "folk"})
    sent = (None, io.BytesIO(bytes(512)), io.BytesIO(b"\1" * 512), io.BytesIO(bytes(512)))
    digests = [singer.synth(song, latents).digest for latents in sent]
    assert len(set(digests)) == 3
    assert digests[1] == digests[3]


def test_notes_before_the_work_know_whether_latents_were_sent() -> None:
    singer = Operations(Catalogue(yue2=Yue2Double()), itertools.count().__next__)
    song = read_song({"style": "folk", "fingerprint": {"device": "none", "precision": "half"}})
    assert singer.synth(song).notes == ("This replay was made elsewhere.",)
    assert singer.synth(song, io.BytesIO(bytes(512))).notes == ()


def test_codes_beside_latents_are_not_read() -> None:
    singer = Operations(Catalogue(yue2=Yue2Double()), itertools.count().__next__)
    latents = io.BytesIO(bytes(512))
    plain = {"style": "folk", "lm_seed": 1, "seed": 1}
    with_codes, without = (
        singer.synth(read_song(plain | codes), latents)
        for codes in ({"semantic_tokens": "1,2,3", "keep_codes": 2}, {})
    )
    assert with_codes.digest == without.digest


def test_stages_tell_lines_songs_and_what_sizes_rest_on() -> None:
    singer = Operations(Catalogue(yue2=Yue2Double()), itertools.count().__next__)
    asked = {"style": "folk", "lyrics": "[Verse]\none\n\ntwo\n[Chorus]\nthree\n", "duration": 60}
    prepared = singer.synth(read_song(asked))
    assert prepared.rates_id == "yue2 none exact"
    assert prepared.stages == (
        Stage("semantic", 1500.0, "budget", 3),
        Stage("decoding", 60.0, "budget", 3),
        Stage("encoding", 60.0, "budget", 3),
    )
    assert [stage.source for stage in singer.plan(read_song(asked)).stages] == ["budget"]


def test_a_phase_for_several_songs_at_once_is_as_large_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    def stages(model: Yue2Double, request: SongRequest, latents: Latents | None = None) -> list[Expected]:
        return [Expected("semantic", 100.0 * request.lm_batch_size, "budget"), Expected("loading", 0.0)]

    monkeypatch.setattr(Yue2Double, "stages", stages)
    singer = Operations(Catalogue(yue2=Yue2Double()), itertools.count().__next__)
    prepared = singer.synth(read_song({"style": "folk", "lm_batch_size": 3}))
    assert [(stage.phase, stage.songs) for stage in prepared.stages] == [("semantic", 3.0), ("loading", 1.0)]


class Follower:
    """A control that keeps a tracker's share after every report; its clock ticks once a report."""

    def __init__(self, stages: tuple[Stage, ...]) -> None:
        self.shares: list[float] = []
        self.entries: list[tuple[str, float]] = []
        self._ticks = itertools.count()
        self._rates = RateBook()
        self._tracker = StageTracker("sketch", stages)
        self._tracker.start(next(self._ticks))

    def check_cancelled(self) -> None:
        """Never stop."""

    def expect(self, phase: str, units: float, source: str = "history") -> None:
        self._tracker.expect(self._rates, phase, units, source)

    def report(self, phase: str, fraction: float, **counters: int) -> None:
        entered = phase != self._tracker.phase
        self._tracker.advance(self._rates, phase, fraction, counters, next(self._ticks))
        self.shares.append(self._tracker.share)
        if entered:
            self.entries.append((phase, self._tracker.share))


@pytest.mark.parametrize("fields", [{"style": "folk", "duration": 3}, {"abc": TUNE}], ids=["composed", "abc"])
def test_progress_through_several_tracks_rises_with_each_phase(
    operations: Operations, fields: dict[str, JsonValue]
) -> None:
    prepared = operations.synth(read_song({**fields, "lm_batch_size": 2, "synth_batch_size": 2}))
    follower = Follower(prepared.stages)
    prepared.work(Making("0" * 16, io.BytesIO(), follower, Stopwatch()))
    assert follower.shares == sorted(follower.shares)
    assert follower.shares[-1] > 0.99
    assert [phase for phase, _ in follower.entries] == [stage.phase for stage in prepared.stages]
    starts = [share for _, share in follower.entries]
    assert all(before < after for before, after in itertools.pairwise(starts))


def test_a_track_is_let_go_before_the_next_is_made(
    operations: Operations, monkeypatch: pytest.MonkeyPatch
) -> None:
    alive: list[bool] = []

    def generate(
        model: SketchModel, request: SongRequest, control: Control, latents: Latents | None
    ) -> Iterator[Track]:
        for _ in range(2):
            samples = np.zeros((480, 2), dtype=np.float32)
            witness = weakref.ref(samples)
            yield Track({}, samples, 48_000, 0.01)
            del samples
            alive.append(witness() is not None)

    monkeypatch.setattr(SketchModel, "generate", generate)
    prepared = operations.synth(read_song({"abc": TUNE, "synth_batch_size": 2}))
    packed = prepared.work(Making("0" * 16, io.BytesIO(), Uncontrolled(), Stopwatch()))
    assert len(packed.parts) == 4
    assert alive == [False, False]


def test_latents_are_written_where_they_were_asked_for_and_nowhere_else(
    operations: Operations, monkeypatch: pytest.MonkeyPatch
) -> None:
    def generate(
        model: SketchModel, request: SongRequest, control: Control, latents: Latents | None
    ) -> Iterator[Track]:
        yield Track({}, np.zeros((480, 2), np.float32), 48_000, 0.01, np.zeros((1, 64), np.float32))

    monkeypatch.setattr(SketchModel, "generate", generate)
    monkeypatch.setattr(SketchModel, "check", lambda *_: None)
    names = []
    for output in ("audio", "latents"):
        prepared = operations.synth(read_song({"abc": TUNE, "output": output}))
        packed = prepared.work(Making("0" * 16, io.BytesIO(), Uncontrolled(), Stopwatch()))
        names.append([part.name for part in packed.parts])
    assert names == [["replay", "audio"], ["replay", "audio", "latents"]]


def test_what_was_sent_counts_as_kept_until_the_job_has_ended(operations: Operations) -> None:
    singer = Operations(Catalogue(yue2=Yue2Double()), itertools.count().__next__)
    song = read_song({"style": "folk"})
    assert singer.synth(song, io.BytesIO(bytes(512))).input_bytes == 512
    assert (singer.synth(song).input_bytes, singer.plan(song).input_bytes) == (0, 0)


@pytest.mark.parametrize("size", [0, 3, 512])
def test_a_model_without_latents_refuses_them_whatever_they_are(operations: Operations, size: int) -> None:
    with pytest.raises(InvalidRequest, match="has no latents") as caught:
        operations.synth(read_song({"style": "folk"}), io.BytesIO(bytes(size)))
    assert caught.value.field == "latents"


def singing(**fields: JsonValue) -> tuple[str, ...]:
    """The notes of a song that the double is asked for, before it is sung."""
    singer = Operations(Catalogue(yue2=Yue2Double()), itertools.count(7).__next__)
    return singer.synth(read_song({"style": "folk", **fields})).notes


def test_songs_that_will_be_the_same_are_noted() -> None:
    codes: dict[str, JsonValue] = {"semantic_tokens": "1,2,3", "lm_batch_size": 2}
    assert singing(**codes) == (SAME_SONGS,)
    assert singing(**codes, keep_codes=2) == singing(**codes | {"lm_batch_size": 1}) == ()


def test_a_song_that_cannot_last_as_long_as_wanted_is_noted() -> None:
    (note,) = singing(duration=400)
    assert note == (
        "A song lasts at most 360 seconds here; raise semantic_sampling.max_tokens, 25 a second, for more."
    )
    (last,) = singing(duration=1000, semantic_sampling={"max_tokens": 24_576})
    assert last == "A song lasts at most 983.04 seconds here."
    assert singing(duration=360) == singing(duration=400, semantic_sampling={"max_tokens": 10_000}) == ()


def test_the_real_model_draws_with_lm_seed_also_where_a_score_is_given() -> None:
    singer = Operations(Catalogue(yue2=Yue2Double()), itertools.count(7).__next__)
    (note,) = singer.synth(read_song({"abc": TUNE, "lm_seed": 3, "seed": 4}), alone="song.mp3").notes
    assert note == "The same request with lm_seed 3 and seed 4 makes the same again."


def test_a_plan_tells_the_seed_that_was_drawn(operations: Operations) -> None:
    (note,) = operations.plan(read_song({"style": "folk"})).notes
    assert note.startswith("The score is drawn with lm_seed ")
    assert operations.plan(read_song({"style": "folk", "lm_seed": 3})).notes == ()
    assert operations.plan(read_song({"abc": TUNE})).notes == ()


def test_a_song_can_be_written_in_a_form_that_no_request_names(operations: Operations) -> None:
    asked, form = read_song({"abc": TUNE}), AudioForm("pcm", rate_hz=8_000, channels=1)
    prepared, sink = operations.synth(asked, form=form), io.BytesIO()
    packed = prepared.work(Making("0" * 16, sink, Uncontrolled(), Stopwatch()))
    replay, audio = packed.parts
    assert (audio.content_type, audio.filename) == ("audio/pcm", "0" * 16 + "-0.pcm")
    assert audio.seconds is not None
    assert audio.length == pytest.approx(audio.seconds * 8_000 * 2, abs=2)
    fields = json.loads(sink.getvalue()[replay.offset : replay.offset + replay.length])
    assert fields["output_format"] == "mp3"
    assert prepared.digest != operations.synth(asked).digest
    assert prepared.digest != operations.synth(asked, form=AudioForm("pcm", rate_hz=16_000)).digest
    assert prepared.digest == operations.synth(asked, form=form).digest


def test_what_a_request_could_have_named_stands_in_its_replay(operations: Operations) -> None:
    prepared, sink = operations.synth(read_song({"abc": TUNE}), form=AudioForm("wav24")), io.BytesIO()
    packed = prepared.work(Making("0" * 16, sink, Uncontrolled(), Stopwatch()))
    replay, audio = packed.parts
    assert audio.content_type == "audio/wav"
    fields = json.loads(sink.getvalue()[replay.offset : replay.offset + replay.length])
    assert fields["output_format"] == "wav24"


def test_a_form_that_cannot_be_written_is_refused_before_the_song_is_made(
    operations: Operations, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(InvalidRequest, match="PyAV"):
        operations.synth(read_song({"abc": TUNE}), form=AudioForm("aac"))
