"""What a request leaves to be done, how long its song may become, and the phases that this takes."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.control import Check, unchecked
from engine.errors import ScoreError
from engine.request import CODES_PER_SECOND, SemanticSampling, SongRequest
from engine.score import parse, timeline
from engine.song_model import Expected
from engine.yue2.fingerprint import Remaining
from engine.yue2.text.prompt import semantic_budget
from engine.yue2.vocabulary import Ids

LOADING, SCORE, SEMANTIC, ACOUSTIC = "loading", "score", "semantic", "acoustic"
DECODING, ANALYSING, ENCODING = "decoding", "analysing", "encoding"
DECODER_PART, ACOUSTIC_PART, VAE_PART, ENCODER_PART = "decoder", "acoustic", "vae", "encoder"
NEEDED_PARTS: Mapping[str, tuple[str, ...]] = {
    SCORE: (DECODER_PART,),
    SEMANTIC: (DECODER_PART,),
    ACOUSTIC: (DECODER_PART, ACOUSTIC_PART),
    DECODING: (VAE_PART,),
    ANALYSING: (ENCODER_PART,),
}
PROTOCOL_STEPS = 32  # of the acoustic solver: a second of audio solved in so many is one unit of work
GIB = 2**30


@dataclass(frozen=True, slots=True)
class Work:
    """Which stages are left, the codes that are there before drawing begins, and the most codes of a song.

    A full or melody song whose codes are given but whose score is not is not planned anew, since no other score
    belongs to those codes: it gets an empty one.
    """

    writes_score: bool
    draws_codes: bool
    codes: Ids
    budget: int
    is_cut: bool = False  # whether codes were given beyond the budget, which are left out


def work_of(request: SongRequest) -> Work:
    """The work of a request without latents; reads its codes, so whoever needs it more than once passes it on."""
    budget, codes = semantic_budget(request), request.codes
    draws = not codes or request.keep_codes > 0
    kept = codes[: request.keep_codes] if draws else codes[:budget]
    writes = request.cot != "off" and not codes and not request.abc.strip()
    return Work(writes, draws, kept, budget, not draws and len(codes) > budget)


def remaining_of(request: SongRequest) -> Remaining:
    """What is to be made first of a request without latents, as `difference` of fingerprints counts it."""
    return "codes" if request.keep_codes or not request.semantic_tokens.strip() else "latents"


def semantic_sampling(request: SongRequest) -> SemanticSampling:
    """How codes are drawn: with the song's budget, which also bounds `min_tokens`."""
    asked, budget = request.semantic_sampling, semantic_budget(request)
    return asked.model_copy(update={"max_tokens": budget, "min_tokens": min(asked.min_tokens, budget)})


@dataclass(frozen=True, slots=True)
class Length:
    """How many frames a song is expected to have, and where that is known from, as in `Expected`."""

    frames: int
    source: str

    @property
    def seconds(self) -> float:
        """The same in seconds."""
        return self.frames / CODES_PER_SECOND


def length_of(request: SongRequest, work: Work, check: Check = unchecked) -> Length:
    """Exact where all codes are given, else the length of the score where there is one that can be read."""
    if not work.draws_codes:
        return Length(len(work.codes), "history")
    if request.cot != "off" and request.abc.strip():
        return score_length(request.abc, work.budget, check)
    return Length(work.budget, "budget")


def score_length(abc: str, budget: int, check: Check = unchecked) -> Length:
    """The length of a score within the budget; the budget where the text cannot be read or holds no time.

    The model sings any text, so one that is no ABC is no fault here.
    """
    try:
        seconds = timeline(parse(abc, check), check).duration
    except ScoreError:
        seconds = 0.0
    if seconds <= 0:
        return Length(budget, "budget")
    return Length(min(budget, math.ceil(seconds * CODES_PER_SECOND)), "score")


def song_stages(request: SongRequest) -> list[Expected]:
    """The phases of a request without latents, but for loading.

    Units: tokens of one song for `score` and `semantic`, which all songs go through in step; of all tracks together
    seconds of audio for `acoustic`, as of 32 steps; seconds of one track for each `decoding` and `encoding`.
    """
    work = work_of(request)
    length = length_of(request, work)
    tracks = request.lm_batch_size * request.synth_batch_size
    stages = []
    if work.writes_score:
        stages.append(Expected(SCORE, request.abc_sampling.max_tokens, "budget"))
    if work.draws_codes:
        stages.append(Expected(SEMANTIC, max(1, length.frames - len(work.codes)), length.source))
    units = acoustic_units(length.seconds * tracks, request.steps)
    stages.append(Expected(ACOUSTIC, units, length.source))
    return stages + sound_stages(length) * tracks


def sound_stages(length: Length) -> list[Expected]:
    """The phases of one track once its latents are there."""
    return [
        Expected(DECODING, length.seconds, length.source),
        Expected(ENCODING, length.seconds, length.source),
    ]


def acoustic_units(seconds: float, steps: int) -> float:
    """The size of the acoustic stage for so much audio of all tracks together."""
    return seconds * steps / PROTOCOL_STEPS


def with_loading(stages: Sequence[Expected], missing: Mapping[str, int]) -> list[Expected]:
    """The same with phases of loading, in GiB, where a part is first needed; `missing` has their bytes by part."""
    left, whole = dict(missing), list[Expected]()
    for stage in stages:
        size = sum(left.pop(part, 0) for part in NEEDED_PARTS.get(stage.phase, ()))
        if size:
            whole.append(Expected(LOADING, size / GIB))
        whole.append(stage)
    return whole
