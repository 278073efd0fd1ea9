"""The sketch model: what it makes of a request, and that a replay gives the same samples."""

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.audio import AudioForm, decode, encode, integrated_loudness
from engine.control import Check, Uncontrolled, unchecked
from engine.errors import InvalidRequest, ScoreError
from engine.request import SketchRequest, SongRequest, read_sketch, read_song
from engine.score import TimedNote, parse
from engine.sketch.pipeline import SHORTEST_TRACK_SECONDS, SketchModel
from engine.sketch.sampler import Sampler
from engine.song_model import Expected, Plan, Track
from engine.words import Word
from tests.engine.sketch.sounds import EXAMPLE

SHORT = 'X:1\nM:4/4\nL:1/4\nQ:1/4=240\nK:Em\n%%text\nV:Vocal\n"Em"EGBG|"C"cGEC|"D"DFAF|"Em"E4|\n'
LYRICS = "[Verse]\nthe morning light is on the sea\n"


def song(**fields: Any) -> SongRequest:
    return read_song({"lm_seed": 3, "seed": 5, "duration": 8, **fields})


def sketch(**fields: Any) -> SketchRequest:
    return read_sketch({"lm_seed": 3, "seed": 5, **fields})


@dataclass(frozen=True, slots=True)
class Hummed:
    samples: NDArray[np.float32]
    words: tuple[Word, ...]
    notes: tuple[TimedNote, ...]


class Hummer:
    """A singer that hums one tone for each note, so that tests need not wait for a network."""

    def __init__(self) -> None:
        self.asked: list[tuple[tuple[TimedNote, ...], float, int]] = []
        self.unloaded = 0

    def sing(
        self,
        notes: Sequence[TimedNote],
        seconds: float,
        seed: int,
        check: Check = unchecked,
        report: Callable[[float], None] = lambda done: None,
    ) -> Hummed:
        self.asked.append((tuple(notes), seconds, seed))
        samples = np.zeros(round(seconds * 48_000), np.float32)
        for place, note in enumerate(notes):
            check()
            report(place / len(notes))
            part = samples[round(note.start * 48_000) : round(note.end * 48_000)]
            part += 0.2 * np.sin(
                np.arange(len(part)) * 2 * np.pi * 440 * 2 ** ((note.midi - 69) / 12) / 48_000
            )
        words = tuple(Word(note.lyric, note.start, note.end) for note in notes)
        return Hummed(samples, words, tuple(notes))

    def unload(self) -> None:
        self.unloaded += 1


@pytest.fixture
def hummer() -> Hummer:
    return Hummer()


@pytest.fixture
def model(sampler: Sampler, hummer: Hummer) -> SketchModel:
    """A model that plays what the other tests' sampler has decoded, and hums."""
    model = SketchModel(hummer)
    model._sampler = sampler
    return model


@pytest.fixture(scope="module")
def heard(sampler: Sampler) -> Callable[[SongRequest], Track]:
    """The first track of a request. It is the same each time, which the replays show, so it is made once."""
    model = SketchModel(Hummer())
    model._sampler = sampler
    tracks: dict[str, Track] = {}

    def first(request: SongRequest) -> Track:
        name = request.model_dump_json()
        if name not in tracks:
            tracks[name] = next(iter(model.generate(request, Uncontrolled())))
        return tracks[name]

    return first


@pytest.mark.parametrize(
    "fields",
    [
        {"style": "folk", "lyrics": LYRICS},
        {"style": "jazz", "lyrics": LYRICS, "cot": "melody"},
        {"style": "rock", "lyrics": LYRICS, "cot": "off"},
        {"style": "pop", "abc": SHORT},
    ],
    ids=["full", "melody", "off", "abc"],
)
def test_a_replay_gives_the_same_samples(
    model: SketchModel, heard: Callable[[SongRequest], Track], fields: dict[str, Any]
) -> None:
    track = heard(song(**fields))
    (again,) = model.generate(read_song(track.replay), Uncontrolled())
    assert np.array_equal(track.samples, again.samples)
    assert track.replay == again.replay
    assert track.seconds == len(track.samples) / track.sample_rate_hz <= 8
    assert np.abs(track.samples).max() > 0.3


def test_the_replay_holds_the_score_unless_there_is_to_be_none(
    heard: Callable[[SongRequest], Track],
) -> None:
    full = heard(song(style="folk", lyrics=LYRICS))
    melody = heard(song(style="folk", lyrics=LYRICS, cot="melody"))
    off = heard(song(style="rock", lyrics=LYRICS, cot="off"))
    written = [parse(str(track.replay["abc"])) for track in (full, melody)]
    chords = [sum(len(bar.chords) for voice in score.voices for bar in voice.bars) for score in written]
    assert chords[0] > 0
    assert chords[1] == 0
    assert off.replay["abc"] == ""


def test_songs_come_before_their_variations(model: SketchModel) -> None:
    lyrics = LYRICS + "ships are coming home\n"
    request = song(style="pop", lyrics=lyrics, lm_batch_size=2, synth_batch_size=2, duration=9)
    tracks = list(model.generate(request, Uncontrolled()))
    assert [(track.replay["lm_seed"], track.replay["seed"]) for track in tracks] == [
        (3, 5),
        (3, 6),
        (4, 5),
        (4, 6),
    ]
    assert tracks[0].replay["abc"] == tracks[1].replay["abc"] != tracks[2].replay["abc"]
    assert not np.array_equal(tracks[0].samples, tracks[1].samples)
    assert all(track.replay["lm_batch_size"] == track.replay["synth_batch_size"] == 1 for track in tracks)


def test_a_plan_is_the_score_that_is_sung(model: SketchModel, heard: Callable[[SongRequest], Track]) -> None:
    request = song(style="folk", lyrics=LYRICS)
    assert model.plan(request, Uncontrolled()) == Plan(str(heard(request).replay["abc"]))
    assert model.plan(song(abc=SHORT), Uncontrolled()) == Plan(SHORT)


def test_the_duration_is_an_upper_bound(model: SketchModel) -> None:
    (track,) = model.generate(song(abc=SHORT, duration=2.5), Uncontrolled())
    assert track.seconds == 2.5
    (tiny,) = model.generate(song(style="pop", duration=1e-9), Uncontrolled())
    assert tiny.seconds == SHORTEST_TRACK_SECONDS


def test_a_preview_plays_the_bars_asked_for(model: SketchModel) -> None:
    whole = model.preview(sketch(abc=SHORT), Uncontrolled())
    part = model.preview(sketch(abc=SHORT, from_bar=2, bars=1), Uncontrolled())
    assert whole.seconds - part.seconds == pytest.approx(3.0, abs=1e-3)
    again = model.preview(read_sketch(part.replay), Uncontrolled())
    assert np.array_equal(part.samples, again.samples)


def test_bars_of_a_preview_count_as_played(model: SketchModel) -> None:
    repeated = SHORT.replace("|\n", "|D4|D4|D4|D4:|\n")  # eight bars, played twice
    model.check_preview(sketch(abc=repeated, from_bar=16))
    late = model.preview(sketch(abc=repeated, from_bar=10), Uncontrolled())
    rest = model.preview(sketch(abc=repeated, from_bar=2), Uncontrolled())
    assert rest.seconds - late.seconds == pytest.approx(8.0, abs=1e-3)  # 15 bars of a second, and 7
    with pytest.raises(InvalidRequest, match="between 1 and 16"):
        model.check_preview(sketch(abc=repeated, from_bar=17))


def test_a_preview_composes_a_request_first(model: SketchModel) -> None:
    track = model.preview(sketch(style="folk", lyrics=LYRICS, bars=2), Uncontrolled())
    assert parse(str(track.replay["abc"])).bar_count > 2
    assert track.seconds < 12


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"semantic_tokens": "1,2,3"}, "semantic_tokens"),
        ({"semantic_tokens": "1,2,3", "keep_codes": 2}, "semantic_tokens"),
        ({"lora": [{"id": "x"}]}, "lora"),
        ({"output": "latents"}, "output"),
    ],
)
def test_what_only_yue2_can_do_is_refused_by_name(
    model: SketchModel, fields: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidRequest, match="choose another model") as refused:
        model.check(song(style="pop", **fields))
    assert refused.value.field == field


def test_ignored_fields_are_accepted_and_change_nothing(model: SketchModel) -> None:
    others: dict[str, Any] = {
        "steps": 8,
        "cfg_scale": 3.0,
        "peak_clip": 0,
        "abc_tokens": "1,2",
        "fingerprint": {"device": "cuda"},
        "abc_sampling": {"temperature": 1.5, "max_tokens": 64},
        "semantic_sampling": {
            "temperature": 0.5,
            "top_p": 0.5,
            "top_k": 7,
            "repetition_penalty": 1.5,
            "penalty_window": 9,
            "min_tokens": 0,
        },
    }
    ignored = model.describe()["ignored_fields"]
    sampling = {f"semantic_sampling.{name}" for name in others.pop("semantic_sampling")}
    assert isinstance(ignored, list)
    assert set(ignored) == {*others, *sampling}
    (usual,) = model.generate(song(abc=SHORT), Uncontrolled())
    (other,) = model.generate(song(abc=SHORT, **others), Uncontrolled())
    assert np.array_equal(usual.samples, other.samples)


def test_scores_and_bars_are_checked_before_admission(model: SketchModel) -> None:
    with pytest.raises(ScoreError, match="line"):
        model.check(song(abc="X:1\nK:C\n[unclosed"))
    with pytest.raises(InvalidRequest, match="between 1 and 4") as refused:
        model.check_preview(sketch(abc=SHORT, from_bar=5))
    assert refused.value.field == "from_bar"
    with pytest.raises(InvalidRequest) as refused:
        model.check_plan(song(style="pop", cot="off"))
    assert refused.value.field == "cot"
    model.check_preview(sketch(abc=EXAMPLE.read_text(), from_bar=5, bars=100))


@pytest.mark.parametrize("fields", [{"style": "folk", "lyrics": LYRICS, "cot": "melody"}])
def test_a_song_without_chord_symbols_has_its_band(
    heard: Callable[[SongRequest], Track], fields: dict[str, Any]
) -> None:
    track = heard(song(**fields))
    led = heard(song(**{**fields, "style": "folk, flute, no drums, no bass"}))
    assert '"' not in str(track.replay["abc"]).split("K:")[1]
    assert not np.array_equal(track.samples, led.samples)


class Witness(Uncontrolled):
    """Keeps the reports."""

    def __init__(self) -> None:
        self.reports: list[tuple[str, float]] = []
        self.expected: list[Expected] = []

    def expect(self, phase: str, units: float, source: str = "history") -> None:
        self.expected.append(Expected(phase, units, source))

    def report(self, phase: str, fraction: float, **counters: int) -> None:
        self.reports.append((phase, fraction))


@pytest.mark.parametrize("fields", [{"lyrics": LYRICS}, {"abc": SHORT}], ids=["composed", "abc"])
def test_stages_are_the_phases_in_the_order_they_are_entered(
    model: SketchModel, fields: dict[str, Any]
) -> None:
    request = song(style="pop", lm_batch_size=2, synth_batch_size=2, **{**fields, "duration": 6})
    witness = Witness()
    for _ in model.generate(request, witness):
        witness.report("encoding", 0.0)
        witness.report("encoding", 1.0)
    entries = [
        (phase, [fraction for _, fraction in reports])
        for phase, reports in groupby(witness.reports, key=itemgetter(0))
    ]
    assert [phase for phase, _ in entries] == [stage.phase for stage in model.stages(request)]
    assert all(fractions == sorted(fractions) for _, fractions in entries)
    assert {(fractions[0], fractions[-1]) for _, fractions in entries} == {(0.0, 1.0)}


def test_words_are_sung_and_told_in_the_replay(model: SketchModel, hummer: Hummer) -> None:
    (track,) = model.generate(song(style="folk", lyrics=LYRICS, seed=9), Uncontrolled())
    ((notes, seconds, seed),) = hummer.asked
    assert [note.lyric for note in notes] == ["the", "morn-", "ing", "light", "is", "on", "the", "sea"]
    assert (seconds, seed) == (track.seconds, 9)
    words = track.replay["words"]
    assert isinstance(words, list)
    assert words[1] == {"word": "morn-", "start": round(notes[1].start, 3), "end": round(notes[1].end, 3)}
    assert track.notes == ()


@pytest.mark.parametrize(
    "fields",
    [
        {"style": "folk, instrumental", "lyrics": LYRICS},
        {"style": "folk"},
        {"style": "folk", "lyrics": "[Verse]\n[Chorus]\n"},
        {"abc": SHORT},
        {"abc": SHORT + "w: la la la la\n", "style": "folk, no vocals"},
    ],
    ids=["instrumental", "no lyrics", "headings alone", "abc without words", "instrumental abc"],
)
def test_nobody_sings_where_there_are_no_words_or_none_are_wanted(
    model: SketchModel, hummer: Hummer, fields: dict[str, Any]
) -> None:
    (track,) = model.generate(song(**fields), Uncontrolled())
    assert not hummer.asked
    assert "words" not in track.replay
    assert "singing" not in [stage.phase for stage in model.stages(song(**fields))]


def test_words_of_a_score_are_sung(model: SketchModel, hummer: Hummer) -> None:
    (track,) = model.generate(song(abc=SHORT + "w: la la la la\n"), Uncontrolled())
    assert len(hummer.asked[0][0]) == 4
    assert "singing" in [stage.phase for stage in model.stages(song(abc=SHORT + "w: la la la la\n"))]
    assert isinstance(track.replay["words"], list)


def test_lyrics_in_a_script_that_the_voice_lacks_are_played_and_the_track_says_so(
    model: SketchModel, hummer: Hummer
) -> None:
    (track,) = model.generate(song(style="folk", lyrics="[Verse]\n我想念夏天的海\n"), Uncontrolled())
    assert not hummer.asked
    (note,) = track.notes
    assert "Chinese characters" in note
    assert "instrument" in note
    (english,) = model.generate(song(style="folk", lyrics=LYRICS), Uncontrolled())
    assert len(hummer.asked) == 1
    assert english.notes == ()


def test_words_for_which_there_is_no_time_are_told_with_the_duration_that_holds_them(
    model: SketchModel, hummer: Hummer
) -> None:
    fields = {"style": "folk, 96 BPM", "lyrics": LYRICS + "ships are coming home\nall the gulls are free\n"}
    (track,) = model.generate(song(**fields, duration=9), Uncontrolled())
    assert track.notes == (
        "The song is too short for the last 2 lines of 3: a duration of 18 holds them all.",
    )
    assert model.plan(song(**fields, duration=9), Uncontrolled()).notes == track.notes
    assert model.plan(song(**fields, duration=18), Uncontrolled()).notes == ()
    assert model.plan(song(**fields, duration=11), Uncontrolled()).notes == ()  # a line in a single bar
    (again,) = model.generate(read_song(track.replay), Uncontrolled())
    assert again.notes == ()


def test_a_preview_sings_its_bars(model: SketchModel, hummer: Hummer) -> None:
    track = model.preview(sketch(abc=SHORT + "w: la " * 13 + "\n", from_bar=2, bars=1), Uncontrolled())
    assert len(hummer.asked[0][0]) == 4
    assert hummer.asked[0][1] == track.seconds


def test_unloading_unloads_the_voice(model: SketchModel, hummer: Hummer) -> None:
    model.unload()
    assert hummer.unloaded == 1


def test_units_are_seconds_of_audio_within_the_duration(model: SketchModel) -> None:
    track = [Expected("rendering", 7), Expected("encoding", 7)]
    request = song(style="pop", duration=7, lm_batch_size=2, synth_batch_size=2)
    assert model.stages(request) == [Expected("composing", 7), *track, *track] * 2
    assert model.stages(song(abc=SHORT, duration=7)) == track
    assert model.plan_stages(song(lyrics=LYRICS * 3, duration=300)) == [Expected("composing", 40)]
    assert model.plan_stages(song(abc=SHORT)) == []
    sung = [Expected("singing", 7), *track]
    assert model.stages(song(style="pop", duration=7, lyrics=LYRICS)) == [Expected("composing", 7), *sung]
    assert model.preview_stages(sketch(abc=SHORT, bars=2)) == [
        Expected("rendering", 5),
        Expected("encoding", 5),
    ]


def test_the_length_of_a_track_is_told_once_its_score_is_read(model: SketchModel) -> None:
    witness = Witness()
    (track,) = model.generate(song(abc=SHORT), witness)
    assert witness.expected == [
        Expected(phase, track.seconds, "score") for phase in ("rendering", "encoding")
    ]


def test_latents_are_refused_and_nothing_is_noted(model: SketchModel) -> None:
    request = song(abc=SHORT)
    with pytest.raises(InvalidRequest, match="has no latents") as refused:
        model.check(request, np.zeros((25, 64), np.float32))
    assert refused.value.field == "latents"
    assert model.notes(request) == ()


def test_an_unloaded_model_loads_again(model: SketchModel) -> None:
    (before,) = model.generate(song(abc=SHORT, duration=0.5), Uncontrolled())
    model.unload()
    (after,) = model.generate(song(abc=SHORT, duration=0.5), Uncontrolled())
    assert np.array_equal(before.samples, after.samples)


@pytest.mark.parametrize("style", ["pop", "edm", "ambient"])
def test_songs_with_a_pad_swing_around_zero(model: SketchModel, style: str) -> None:
    (track,) = model.generate(song(style=style, lyrics=LYRICS), Uncontrolled())
    assert abs(float(track.samples.mean())) < 0.005


@pytest.mark.parametrize(
    "style", [*(pytest.param(style, marks=pytest.mark.runtime) for style in ("rock", "edm")), "metal"]
)
def test_decoded_songs_stay_below_full_scale(model: SketchModel, style: str) -> None:
    (track,) = model.generate(song(style=style, lyrics=LYRICS), Uncontrolled())
    for kind, kbps in (("mp3", 128), ("opus", 96)):
        sink = io.BytesIO()
        encode(track.samples, track.sample_rate_hz, AudioForm(kind, kbps), sink)
        sink.seek(0)
        decoded, rate = decode(sink)
        some = np.ascontiguousarray(decoded[: 1 << 18].T)  # (2, n)
        between = np.fft.irfft(np.fft.rfft(some), 4 * some.shape[1]) * 4
        assert np.abs(between).max() <= 1
        assert integrated_loudness(decoded, rate) == pytest.approx(-14, abs=0.3)


@pytest.mark.parametrize("style", ["jazz", "folk, acoustic guitar, warm"])
def test_an_mp3_of_a_song_stays_below_full_scale(model: SketchModel, style: str) -> None:
    track = next(iter(model.generate(song(style=style, lyrics=LYRICS), Uncontrolled())))
    file = io.BytesIO()
    encode(track.samples, track.sample_rate_hz, AudioForm("mp3"), file)
    file.seek(0)
    assert 0.5 < float(np.abs(decode(file)[0]).max()) < 1.0
