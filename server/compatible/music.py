"""ElevenLabs' music requests in our words: style, lyrics and a length."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import ceil
from typing import Annotated, Final, TypeVar

from annotated_types import MaxLen
from pydantic import AfterValidator, Field, ValidationError

from engine.audio import AudioForm
from engine.errors import InvalidRequest, MissingInput
from engine.request import CODES_PER_SECOND, SongRequest, read_song
from engine.request_errors import refusal
from engine.request_types import SEED_LIMIT, Model, Text, Whole
from engine.sampling_request import SemanticSampling
from engine.sketch.style import can_be_left_out
from engine.sketch.vocabulary import INSTRUMENTAL_WORDS
from server.compatible.fields import renamed
from server.compatible.music_formats import audio_form
from server.compatible.music_plan import (
    ChunkedPlan,
    MusicPrompt,
    SongPlan,
    Tolerant,
    as_chunks,
    as_music_prompt,
    at_most,
    check_styles,
    check_written,
    distinct,
    not_here,
    plan_of,
)
from server.compatible.music_prompt import draft, fitting_tags, read_prompt
from server.compatible.music_times import lyrics_of, missed, without_tail
from server.compatible.names import music_model
from storage.entry import JSON

SHORTEST_MS, LONGEST_MS = 3_000, 600_000
LONGEST_PROMPT: Final = 4_100
LONGEST_STYLE: Final = 4_000
MOST_NAMED: Final = 5
LATER_MODELS: Final = ("music_v2", "music_v2_5")  # whose plans are chunks
AUTOMATIC, AUTOMATIC_LATER = "mp3_44100_128", "mp3_48000_192"
INSTRUMENTAL: Final = "instrumental"
NO_WORDS: Final = "Nobody sings, since the prompt brings no words: put some below a line such as [Verse]."
DIVIDES_TIME: Final = (
    "This model itself chooses how long each section lasts; the length of all bounds the song."
)
VOICE_WORDS: Final = frozenset({"vocal", "vocals", "voice", "voices", "singer", "singing", "lyrics", "words"})
NO_FINETUNES: Final = "there are no finetunes; leave it out, or choose a model by model_id."
WITHOUT_EFFECT: Final = {
    "sign_with_c2pa": "Nothing is signed here: sign_with_c2pa has no effect.",
    "store_for_inpainting": "Songs cannot be sung anew in part here: store_for_inpainting has no effect.",
}
_NAMES: Final = {
    "model": "model_id",
    "lm_seed": "seed",
    "duration": "music_length_ms",
    "output_format": "output_format",
    "": "prompt",
    "abc_sampling.max_tokens": "the score",  # nobody has a field for that; a sentence may still count its tokens
}

Finetune = Annotated[object, AfterValidator(not_here(NO_FINETUNES))]
Flag = Annotated[bool, Field(strict=True)]


class _Fields(Tolerant):
    """What every music call may send."""

    prompt: Annotated[Text, AfterValidator(at_most(LONGEST_PROMPT)), MaxLen(LONGEST_PROMPT)] | None = None
    music_length_ms: Whole | None = Field(default=None, ge=SHORTEST_MS, le=LONGEST_MS)
    model_id: Model | None = None


class _Compose(_Fields):
    """Fields of a call that makes a song."""

    seed: Whole | None = Field(default=None, ge=0, lt=SEED_LIMIT)
    force_instrumental: Flag | None = None
    with_timestamps: Flag | None = None
    with_waveform_visual: Flag | None = None
    sign_with_c2pa: Flag | None = None
    store_for_inpainting: Flag | None = None
    respect_sections_durations: Flag | None = None
    finetune_id: Finetune = None


class ComposeSections(_Compose):
    """A song, of a plan in sections where there is a plan."""

    composition_plan: MusicPrompt | None = None


class ComposeChunks(_Compose):
    """A song, of a plan in chunks where there is a plan."""

    composition_plan: ChunkedPlan | None = None


class PlanSections(_Fields):
    """A plan, begun from one in sections where there is such."""

    source_composition_plan: MusicPrompt | None = None


class PlanChunks(_Fields):
    """A plan, begun from one in chunks where there is such."""

    source_composition_plan: ChunkedPlan | None = None


Sections = TypeVar("Sections", bound=_Fields)
Chunks = TypeVar("Chunks", bound=_Fields)


@dataclass(frozen=True, slots=True)
class Composition:
    """A song that was asked for.

    `milliseconds` is None where the model is to choose. `prompt` is empty where a plan was sent. `model` is the name to
    look up here, `is_later` says that the plan is told in chunks.
    """

    plan: SongPlan
    milliseconds: int | None
    form: AudioForm
    prompt: str = ""
    model: str = ""
    seed: int = -1
    is_instrumental: bool = False
    is_later: bool = False
    with_timestamps: bool = False
    with_waveform: bool = False
    notes: tuple[str, ...] = ()

    @property
    def words(self) -> Mapping[str, str]:
        """What the caller calls our fields, for `renamed`: what is asked for comes in a prompt or in a plan."""
        source, length = (
            ("prompt", "music_length_ms") if self.prompt else ("composition_plan", "composition_plan")
        )
        lengths = {"duration": length, "semantic_sampling.max_tokens": length}
        return _NAMES | lengths | {"": source, "style": source, "lyrics": source}


def read_composition(payload: Mapping[str, JSON], output_format: str) -> Composition:
    """Read the body of `/v1/music` and its siblings. Raises InvalidRequest, MissingInput in the caller's words."""
    sent = _read(payload, "composition_plan", ComposeSections, ComposeChunks)
    later = sent.model_id in LATER_MODELS
    chunked = later or isinstance(sent.composition_plan, ChunkedPlan)
    prompt, milliseconds = "", sent.music_length_ms
    if sent.composition_plan is None:
        prompt = _prompt(sent.prompt, "or a composition_plan")
        plan = read_prompt(prompt)
    else:
        plan = plan_of(sent.composition_plan)
        milliseconds = _planned_length(sent, plan)
        check_styles(plan, "composition_plan")
        check_written(_written(plan, chunked=chunked), "composition_plan")
    return Composition(
        plan=plan,
        milliseconds=milliseconds,
        form=audio_form(output_format, AUTOMATIC_LATER if later else AUTOMATIC),
        prompt=prompt,
        model=_model(sent.model_id),
        seed=-1 if sent.seed is None else sent.seed,
        is_instrumental=bool(sent.force_instrumental) or _is_unsung(plan.avoided),
        is_later=chunked,
        with_timestamps=bool(sent.with_timestamps),
        with_waveform=bool(sent.with_waveform_visual),
        notes=tuple(sentence for name, sentence in WITHOUT_EFFECT.items() if getattr(sent, name)),
    )


@dataclass(frozen=True, slots=True)
class Drafted:
    """A plan as the call's answer tells it, and the name of the model to look up here."""

    model: str
    answer: dict[str, JSON]


def drafted(payload: Mapping[str, JSON]) -> Drafted:
    """The answer to the body of `/v1/music/plan`. Raises InvalidRequest, MissingInput in the caller's words.

    Nobody writes words here: the plan has the tags of the prompt and what words it brings, in the sections that it
    names, else in those of the plan to start from, else in those of the built-in band. Any answer can be composed: what
    would make another is refused.
    """
    sent = _read(payload, "source_composition_plan", PlanSections, PlanChunks)
    plan = read_prompt(_prompt(sent.prompt))
    source = sent.source_composition_plan
    if source is not None:
        plan = _started_from(plan_of(source), plan)
        check_styles(plan, "source_composition_plan")
    milliseconds = sent.music_length_ms
    if milliseconds is None and plan.milliseconds is not None:
        milliseconds = min(max(plan.milliseconds, SHORTEST_MS), LONGEST_MS)
    plan = draft(replace(plan, styles=fitting_tags(plan.styles)), milliseconds)
    chunked = sent.model_id in LATER_MODELS or isinstance(source, ChunkedPlan)
    answer = _written(plan, chunked=chunked)
    with renamed({"composition_plan": "prompt" if source is None else "source_composition_plan"}):
        song_of(read_composition({"composition_plan": answer}, ""), keeps_time=True)
    return Drafted(_model(sent.model_id), answer)


def song_of(asked: Composition, *, keeps_time: bool) -> tuple[SongRequest, tuple[str, ...]]:
    """The request for our models, and sentences on what they do not do.

    `keeps_time` says that the model reads how long a section is to be from its heading, and which instruments to leave
    out from tags. Raises InvalidRequest in the caller's words.
    """
    plan = asked.plan
    if asked.milliseconds is not None and plan.milliseconds != asked.milliseconds and keeps_time:
        plan = draft(plan, asked.milliseconds)
    if asked.is_instrumental:
        plan = plan.without_words()
    style, notes = _style(plan, unsung=asked.is_instrumental, negates=keeps_time)
    ending = plan.sections if asked.milliseconds is None else without_tail(plan.sections)
    lyrics = lyrics_of(ending, timed=keeps_time)
    fields: dict[str, object] = {
        "model": asked.model,
        "style": style if style or lyrics else asked.prompt.strip()[:LONGEST_STYLE],
        "lyrics": lyrics,
        "seed": asked.seed,
        "lm_seed": asked.seed,
    }
    if asked.milliseconds is not None:
        seconds = asked.milliseconds / 1000
        tokens = max(SemanticSampling().max_tokens, ceil(seconds * CODES_PER_SECOND))
        fields |= {"duration": seconds, "semantic_sampling": {"max_tokens": tokens}}
    with renamed(asked.words):
        request = read_song(fields)
    if keeps_time and not asked.prompt:
        notes = (*notes, *missed(plan.sections, request))
    return request, (*asked.notes, *notes, *_surprises(asked, keeps_time=keeps_time))


def written(asked: Composition, plan: SongPlan) -> dict[str, JSON]:
    """A plan in the shape that the composition's model has."""
    return _written(plan, chunked=asked.is_later)


def _written(plan: SongPlan, *, chunked: bool) -> dict[str, JSON]:
    return as_chunks(plan) if chunked else as_music_prompt(plan)


def _read(
    payload: Mapping[str, JSON], field: str, sections: type[Sections], chunks: type[Chunks]
) -> Sections | Chunks:
    plan = payload.get(field)
    shape: type[Sections] | type[Chunks] = sections
    if isinstance(plan, dict) and "chunks" in plan:
        shape = chunks
    try:
        return shape.model_validate(payload)
    except ValidationError as error:
        raise refusal(shape, error) from error


def _prompt(prompt: str | None, choice: str = "") -> str:
    if prompt is None or not prompt.strip():
        raise MissingInput(
            "prompt", " ".join(f"Send a prompt that says what to compose {choice}".split()) + "."
        )
    return prompt


def _planned_length(sent: _Compose, plan: SongPlan) -> int:
    """The length of a plan, which comes without a prompt and without a length beside its own."""
    if sent.prompt is not None and sent.prompt.strip():
        raise InvalidRequest(
            "composition_plan", "Send a prompt or a composition_plan, not both; leave one out."
        )
    if sent.music_length_ms is not None:
        raise InvalidRequest(
            "music_length_ms",
            "music_length_ms goes with a prompt; a composition_plan is as long as its sections, so leave it out.",
        )
    length = plan.milliseconds or 0
    if length > LONGEST_MS:
        raise InvalidRequest(
            "composition_plan",
            f"The sections last {length} ms together; a song has at most {LONGEST_MS}, so shorten them.",
        )
    return length


def _model(name: str | None) -> str:
    with renamed(_NAMES):
        return music_model(name or "")


def _started_from(source: SongPlan, prompted: SongPlan) -> SongPlan:
    """A plan with what the prompt says put first; its words, where it brings any, take the place of the sections."""
    avoided = distinct((*prompted.avoided, *source.avoided))
    unwanted = {style.casefold() for style in prompted.avoided}
    styles = distinct((*prompted.styles, *source.styles))
    return SongPlan(
        tuple(style for style in styles if style.casefold() not in unwanted),
        avoided,
        prompted.sections or source.sections,
    )


def _is_unsung(avoided: Sequence[str]) -> bool:
    """Whether a song without these has nobody singing."""
    return any(style.casefold() in VOICE_WORDS for style in avoided)


def _style(plan: SongPlan, *, unsung: bool, negates: bool) -> tuple[str, tuple[str, ...]]:
    """Tags with commas between them, the song's first, and sentences on what could not be made into tags."""
    tags, notes = [*plan.styles], list[str]()
    local = [style for section in plan.sections for style in section.styles]
    if plan.is_sung:  # one section without a voice must not silence the others
        local = [style for style in local if style.casefold() not in INSTRUMENTAL_WORDS]
    tags += local
    if local:
        notes.append("The styles of single sections count for the whole song.")
    left_out = [style for style in plan.avoided if negates and can_be_left_out(style)]
    left_out = left_out[: _how_many(left_out, LONGEST_STYLE // 2)]
    dropped = [style for section in plan.sections for style in section.avoided]
    dropped += [s for s in plan.avoided if s not in left_out and s.casefold() not in VOICE_WORDS]
    if dropped:
        notes.append(f"Styles to avoid that have no effect here: {_listed(distinct(dropped))}.")
    last = [*(f"no {style}" for style in left_out), *([INSTRUMENTAL] if unsung else [])]
    style, cut = _within(distinct(tags), last)
    return style, (*notes, *cut)


def _surprises(asked: Composition, *, keeps_time: bool) -> tuple[str, ...]:
    """What somebody may wonder about who knows how the vendor's models compose."""
    if not keeps_time:
        return () if asked.plan.milliseconds is None else (DIVIDES_TIME,)
    named = {style.casefold() for style in asked.plan.styles}
    meant = asked.plan.is_sung or not asked.prompt or asked.is_instrumental
    return () if meant or named & set(INSTRUMENTAL_WORDS) else (NO_WORDS,)


def _within(tags: Sequence[str], last: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """All tags in one text; of the first ones as many as there is room for, since a later one takes out what it names."""
    named = {tag.casefold() for tag in last}
    first = ", ".join(tag for tag in tags if tag.casefold() not in named)
    end = ", ".join(last)
    room = LONGEST_STYLE - (len(end) + len(", ") if end else 0)
    if len(first) <= room:
        return ", ".join(filter(None, (first, end))), ()
    kept = first[: room + 1]
    kept = kept[: kept.rfind(",") if "," in kept else room]
    return ", ".join(filter(None, (kept, end))), (
        f"Only the first {len(kept)} characters of the styles count.",
    )


def _how_many(styles: Sequence[str], characters: int) -> int:
    """How many of the first styles fit, with `no ` before each and a comma behind it."""
    return sum(end <= characters for end in accumulate(len(style) + len("no , ") for style in styles))


def _listed(styles: Sequence[str]) -> str:
    more = f" and {len(styles) - MOST_NAMED} more" if len(styles) > MOST_NAMED else ""
    return ", ".join(style[:40] for style in styles[:MOST_NAMED]) + more
