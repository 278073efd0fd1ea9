"""The `sketch` model: composes a lead sheet, sings it and has the band play. No accelerator, always present."""

import re
from collections.abc import Iterator
from math import ceil

from pydantic import JsonValue

from engine.control import Check, Control, unchecked
from engine.errors import InvalidRequest
from engine.request import SemanticSampling, SketchRequest, SongRequest, replay_of
from engine.score import Score, excerpt, parse, timeline, write
from engine.sketch.compose import compose, left_out
from engine.sketch.form import LONGEST_SECONDS as LONGEST_COMPOSED_SECONDS
from engine.sketch.notes import RATE_HZ
from engine.sketch.performance import SINGING, Performance, Voice, perform
from engine.sketch.sampler import LONGEST_SECONDS, PHASE, TAIL_SECONDS, Sampler, sounding_seconds
from engine.sketch.style import read_style
from engine.sketch.unheard import unheard
from engine.sketch.voice import Singer, SungNetwork
from engine.song_model import Expected, Latents, Plan, Track
from engine.speech.phonemes import Phonemiser
from engine.words import words_as_json

# Accepted, so that one request suits every model, but without effect on a sketch. Of the semantic sampling only
# `max_tokens` counts, which bounds the length.
IGNORED_FIELDS = (
    "steps",
    "cfg_scale",
    "peak_clip",
    "abc_tokens",
    "fingerprint",
    "abc_sampling",
    *(f"semantic_sampling.{name}" for name in SemanticSampling.model_fields if name != "max_tokens"),
)
COMPOSING, RENDERING, ENCODING = "composing", PHASE, "encoding"
SHORTEST_TRACK_SECONDS = 0.1  # whatever `duration` says, so that there is something to encode
_SHORTEST_SONG_SECONDS = 1.0
_WORDS_OF_A_SCORE = re.compile(r"^\s*w:", re.MULTILINE)
_SECONDS_A_LINE, _SECONDS_AROUND, _SECONDS_UNSUNG = 5.0, 25.0, 150.0  # what the composer tends to write


class SketchModel:
    """Owns the sampler and the singer, which are opened with the first song; all but the checks runs on one thread."""

    id = "sketch"
    rates_id = "sketch"
    latent_channels = 0

    def __init__(self, singer: Voice | None = None) -> None:
        self._sampler: Sampler | None = None
        self._voice = singer

    def describe(self) -> dict[str, JsonValue]:
        """What a client is told: id, kind, a sentence, languages, operations, fields that differ from the defaults."""
        return {
            "id": self.id,
            "kind": "sketch",
            "description": (
                "Composes a lead sheet from style and lyrics and performs it: a synthetic voice sings English, "
                "a band of sampled instruments plays; lyrics in other scripts are played on a lead instrument. "
                "Needs no download and no accelerator."
            ),
            "languages": ["en"],
            "operations": ["synth", "plan", "sketch"],
            "unsupported_fields": ["semantic_tokens", "keep_codes", "lora", "output=latents"],
            "ignored_fields": list(IGNORED_FIELDS),
            "defaults": {},
        }

    def check(self, request: SongRequest, latents: Latents | None = None) -> None:
        """Raise InvalidRequest, naming the field, for what this model cannot do, and ScoreError for a bad score."""
        self._check_fields(request)
        if latents is not None:
            raise InvalidRequest(
                "latents",
                f"The model {self.id!r} has no latents; leave the part out, or choose another model.",
            )
        if request.abc.strip():
            parse(request.abc)

    def _check_fields(self, request: SongRequest) -> None:
        refusals = {
            "semantic_tokens": (
                bool(request.semantic_tokens.strip()),
                "has no semantic codes; leave them out",
            ),
            "keep_codes": (request.keep_codes > 0, "has no semantic codes; leave it at 0"),
            "lora": (bool(request.lora), "knows no adapters; send an empty list"),
            "output": (request.output == "latents", "has no latents; ask for audio"),
        }
        for field, (asked, reason) in refusals.items():
            if asked:
                raise InvalidRequest(field, f"The model {self.id!r} {reason}, or choose another model.")

    def check_plan(self, request: SongRequest) -> None:
        """As `check`; a plan is a score, so `cot` must not be off."""
        self.check(request)
        if request.cot == "off":
            raise InvalidRequest("cot", "A plan is a score; set cot to full or melody.")

    def check_preview(self, request: SketchRequest) -> None:
        """As `check`; the bars must exist. Composes where no score is given, so the seeds must be resolved."""
        self._check_fields(request)
        if request.abc.strip():
            _excerpt(parse(request.abc), request)
        elif request.from_bar > 1:
            _excerpt(self._composed(request, request.lm_seed), request)

    def plan(self, request: SongRequest, control: Control) -> Plan:
        """The score of the request: the one it brings, else a new one drawn with `lm_seed`."""
        return Plan(self._planned(request, control), _unsung(request, control.check_cancelled))

    def _planned(self, request: SongRequest, control: Control) -> str:
        if request.abc.strip():
            return request.abc
        control.report(COMPOSING, 0.0)
        control.check_cancelled()
        check = control.check_cancelled
        text = write(self._composed(request, request.lm_seed, check), check)
        control.report(COMPOSING, 1.0)
        return text

    def generate(
        self, request: SongRequest, control: Control, latents: Latents | None = None
    ) -> Iterator[Track]:
        """Tracks song by song, each song's variations together; seeds are those of the request, which has none open.

        There are never latents: `check` refuses them. A song lasts at most `duration`; a longer score is faded out there.
        """
        for song in range(request.lm_batch_size):
            text = self._planned(request.model_copy(update={"lm_seed": request.lm_seed + song}), control)
            score = parse(text, control.check_cancelled)
            for variation in range(request.synth_batch_size):
                yield self._track(score, request, text, (song, variation), control)

    def preview(self, request: SketchRequest, control: Control) -> Track:
        """The bars asked for, of the score given or composed, as one track."""
        text = self._planned(request, control)
        score = _excerpt(parse(text, control.check_cancelled), request)
        return self._track(score, request, text, (0, 0), control)

    def stages(self, request: SongRequest, latents: Latents | None = None) -> list[Expected]:
        """Phases of `generate` as often as they are entered, in order; their units are seconds of audio expected.

        Encoding is the caller's, track by track.
        """
        tracks = _sounding(_expected_seconds(request), sung=_is_sung(request)) * request.synth_batch_size
        return [*self.plan_stages(request), *tracks] * request.lm_batch_size

    def plan_stages(self, request: SongRequest) -> list[Expected]:
        """Phases of `plan`, as in `stages`; none where the score is there."""
        return [] if request.abc.strip() else [Expected(COMPOSING, _expected_seconds(request))]

    def preview_stages(self, request: SketchRequest) -> list[Expected]:
        """Phases of `preview`, as in `stages`."""
        seconds = _expected_seconds(request)
        if request.bars is not None:
            seconds = min(seconds, 2.5 * request.bars)
        return [*self.plan_stages(request), *_sounding(seconds, sung=_is_sung(request))]

    def notes(self, request: SongRequest, latents: Latents | None = None) -> tuple[str, ...]:
        """Nothing: a sketch is the same on every machine."""
        return ()

    def unload(self) -> None:
        """Close the sound bank and the voice; the next song opens them again."""
        self._sampler = None
        if self._voice is not None:
            self._voice.unload()

    def _composed(self, request: SongRequest, seed: int, check: Check = unchecked) -> Score:
        chords = request.cot != "melody"
        return compose(
            request.style, request.lyrics, seed, _composed_seconds(request), chords=chords, check=check
        )

    def _track(
        self, score: Score, request: SongRequest, abc: str, place: tuple[int, int], control: Control
    ) -> Track:
        """The track of a song and variation, both counted from 0."""
        song, variation = place
        made = self._performed(score, request, request.seed + variation, control)
        words = words_as_json(made.words) if made.voice is not None else None
        replay = replay_of(request, song, variation, model=self.id, abc=abc, words=words)
        notes = (*_unsung(request, control.check_cancelled), *made.remarks)
        return Track(replay, made.samples, RATE_HZ, len(made.samples) / RATE_HZ, notes=notes)

    def _performed(self, score: Score, request: SongRequest, seed: int, control: Control) -> Performance:
        if self._sampler is None:
            self._sampler = Sampler(check=control.check_cancelled)
        sung = _is_sung(request)
        if sung and self._voice is None:
            self._voice = Singer(SungNetwork(), Phonemiser())
        control.report(SINGING if sung else RENDERING, 0.0)
        style, limit = read_style(request.style), _limit_seconds(request)
        played = timeline(score, control.check_cancelled)
        seconds = sounding_seconds(played.duration, limit)
        for stage in _sounding(seconds, "score", sung=sung):
            control.expect(stage.phase, stage.units, stage.source)
        return perform(played, style, seed, self._sampler, self._voice if sung else None, control, limit)


def _limit_seconds(request: SongRequest) -> float:
    return min(max(request.longest_seconds, SHORTEST_TRACK_SECONDS), LONGEST_SECONDS)


def _composed_seconds(request: SongRequest) -> float:
    """How long a song may be before its last tone has died away."""
    return max(_limit_seconds(request) - TAIL_SECONDS, _SHORTEST_SONG_SECONDS)


def _unsung(request: SongRequest, check: Check) -> tuple[str, ...]:
    """A sentence on the words that are not sung, because of style, score or duration; nothing where all are."""
    if told := unheard(request.style, request.lyrics, request.abc):
        return (told,)
    if request.abc.strip():
        return ()
    missing, lines, seconds = left_out(request.style, request.lyrics, _composed_seconds(request), check)
    if not missing:
        return ()
    needed = ceil(seconds + TAIL_SECONDS)
    which = "the last line" if missing == 1 else f"the last {missing} lines"
    way = (
        f"a duration of {needed} holds them all"
        if needed <= LONGEST_COMPOSED_SECONDS
        else "send them as several songs"
    )
    return (f"The song is too short for {which} of {lines}: {way}.",)


def _is_sung(request: SongRequest) -> bool:
    """Whether somebody is to sing: there are words, and the style wants a singer."""
    if read_style(request.style).instrumental:
        return False
    if request.abc.strip():
        return _WORDS_OF_A_SCORE.search(request.abc) is not None
    return _written_lines(request) > 0


def _written_lines(request: SongRequest) -> int:
    return sum(1 for line in request.lyrics.splitlines() if line.strip() and not line.strip().startswith("["))


def _sounding(seconds: float, source: str = "history", *, sung: bool) -> list[Expected]:
    """A track's way from the score to its file."""
    phases = (SINGING, RENDERING, ENCODING) if sung else (RENDERING, ENCODING)
    return [Expected(phase, seconds, source) for phase in phases]


def _excerpt(score: Score, request: SketchRequest) -> Score:
    if request.from_bar == 1 and request.bars is None:
        return score
    return excerpt(score, request.from_bar, request.bars)


def _expected_seconds(request: SongRequest) -> float:
    """A guess at the length, made before admission and so without composing."""
    lines = _written_lines(request)
    guess = lines * _SECONDS_A_LINE + _SECONDS_AROUND if lines else _SECONDS_UNSUNG
    return min(guess, _limit_seconds(request))
