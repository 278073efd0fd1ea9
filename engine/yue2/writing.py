"""Songs as tokens: their scores, given or written by the model, and the codes that they are performed with."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from engine.control import Control
from engine.errors import EngineError
from engine.request import CODES_PER_SECOND, Sampling, SongRequest
from engine.yue2.decoding.lockstep import decode
from engine.yue2.decoding.takes import Decoded, SongPrompt
from engine.yue2.machine.memory import BRANCHES, Allowance
from engine.yue2.parts import Parts
from engine.yue2.stages import SCORE, SEMANTIC, Work, semantic_sampling
from engine.yue2.text.prompt import Prompts, TextIds, guidance, score_text
from engine.yue2.vocabulary import CODEC_FIRST, SCORE_ROWS, SEMANTIC_ROWS, Ids, TokenRows


@dataclass(frozen=True, slots=True)
class Draft:
    """One song as tokens: the score as ids and as text, the codes (from 0), and sentences for whoever asked.

    `together` counts the songs that its codes were drawn in step with, itself included.
    """

    score_ids: Ids = ()
    abc: str = ""
    codes: Ids = ()
    notes: tuple[str, ...] = ()
    together: int = 1


class Writer:
    """Writes scores and draws codes; owns nothing but the way to the loaded parts."""

    def __init__(self, parts: Parts, tokenizer: TextIds) -> None:
        self._parts = parts
        self._tokenizer = tokenizer
        self._prompts = Prompts(tokenizer)

    def given(self, request: SongRequest) -> Draft:
        """The score that a request brings: its `abc_tokens` where they spell exactly its `abc`, else `abc` encoded.

        A blank one is an empty score, and so is that of `cot` off.
        """
        ids = self._prompts.given_ids(request)
        return Draft(ids, request.abc) if ids else Draft()

    def prefix(self, request: SongRequest, draft: Draft) -> Ids:
        """What the codes of a song stand behind."""
        return self._prompts.semantic_prefix(request.style, request.lyrics, request.cot, draft.score_ids)

    def scores(self, request: SongRequest, work: Work, allowed: Allowance, control: Control) -> list[Draft]:
        """All songs of the request, with their scores but without codes; `work` is the request's."""
        if not work.writes_score:
            return [self.given(request)] * request.lm_batch_size
        prefix = self._prompts.open_prefix(request.style, request.lyrics, request.cot)
        prompts = [SongPrompt(prefix, (), (), seed) for seed in _seeds(request)]
        stage = _Stage(SCORE, SCORE_ROWS, request.abc_sampling)
        drawn = self._drawn(prompts, stage, request.abc_sampling.max_tokens, allowed, control)
        return [self._written(song, request) for song, _ in drawn]

    def _written(self, song: Decoded, request: SongRequest) -> Draft:
        budget = request.abc_sampling.max_tokens
        cut = (f"The score reached its budget of {budget} tokens and was closed there.",)
        return Draft(
            song.tokens, score_text(self._tokenizer, song.tokens), notes=cut if song.truncated else ()
        )

    def performed(
        self,
        request: SongRequest,
        work: Work,
        drafts: Sequence[Draft],
        frames: int,
        allowed: Allowance,
        control: Control,
    ) -> list[Draft]:
        """The songs with their codes; `work` is the request's, `frames` how many codes a song is expected to have.

        Raises EngineError where the model ends a song before its first code.
        """
        if not work.draws_codes:
            cut = _cut_note(work.codes) if work.is_cut else ()
            return [replace(draft, codes=work.codes, notes=(*draft.notes, *cut)) for draft in drafts]
        scale = guidance(request.cot, request.cfg_scale)
        kept = tuple(CODEC_FIRST + code for code in work.codes)
        prompts = [
            SongPrompt(self.prefix(request, draft), self._negative(request, draft, scale), kept, seed)
            for draft, seed in zip(drafts, _seeds(request), strict=True)
        ]
        stage = _Stage(SEMANTIC, SEMANTIC_ROWS, semantic_sampling(request), scale, request.cot == "off")
        drawn = self._drawn(prompts, stage, frames, allowed, control)
        songs = zip(drafts, drawn, _seeds(request), strict=True)
        return [_with_codes(draft, song, together, seed) for draft, (song, together), seed in songs]

    def _negative(self, request: SongRequest, draft: Draft, scale: float) -> Ids:
        return () if scale == 1 else self._prompts.negative_prefix(request.cot, draft.score_ids)

    def _drawn(
        self,
        prompts: Sequence[SongPrompt],
        stage: "_Stage",
        expected: int,
        allowed: Allowance,
        control: Control,
    ) -> list[tuple[Decoded, int]]:
        """Each prompt's tokens, and how many songs they were drawn in step with."""
        branches = 1 if stage.guidance == 1 else BRANCHES
        at_once = allowed.songs_at_once(branches)
        groups = [prompts[first : first + at_once] for first in range(0, len(prompts), at_once)]
        loaded = self._parts.decoder(control, allowed, branches * len(groups[0]))
        drawn: list[tuple[Decoded, int]] = []
        for group in groups:
            tell = _telling(control, stage.phase, len(drawn), len(group), len(prompts), expected)
            tell(0)
            songs = decode(
                loaded.decoder,
                group,
                stage.rows,
                stage.sampling,
                guidance=stage.guidance,
                legacy=stage.legacy,
                check=control.check_cancelled,
                progress=tell,
                graphs=loaded.graphs,
            )
            drawn += [(song, len(group)) for song in songs]
        return drawn


@dataclass(frozen=True, slots=True)
class _Stage:
    """How one stage draws its tokens."""

    phase: str
    rows: TokenRows
    sampling: Sampling
    guidance: float = 1.0
    legacy: bool = False


def _seeds(request: SongRequest) -> range:
    return range(request.lm_seed, request.lm_seed + request.lm_batch_size)


def _with_codes(draft: Draft, song: Decoded, together: int, seed: int) -> Draft:
    if not song.tokens:
        raise EngineError(
            f"With lm_seed {seed} the model ended the song before its first sound; send another lm_seed, or a "
            "min_tokens above 0 in semantic_sampling."
        )
    codes = tuple(token - CODEC_FIRST for token in song.tokens)
    cut = _cut_note(codes) if song.truncated else ()
    return replace(draft, codes=codes, notes=(*draft.notes, *cut), together=together)


def _cut_note(codes: Ids) -> tuple[str, ...]:
    return (f"The song was cut at {len(codes) / CODES_PER_SECOND:.2f} seconds, where its budget ends.",)


def _telling(
    control: Control, phase: str, before: int, group: int, songs: int, expected: int
) -> Callable[[int], None]:
    """Reports how far a stage is, by the tokens that each song of a group has; `before` songs are done."""

    def tell(tokens: int) -> None:
        share = min(1.0, tokens / max(1, expected))
        control.report(phase, (before + group * share) / songs, tokens=tokens, songs=group)

    return tell
