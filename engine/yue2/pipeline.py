"""The YuE2 model: a score, semantic codes, acoustic latents and sound, in this order, as `engine.song_model` asks."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import torch
from pydantic import JsonValue

from engine.audio import Samples
from engine.control import Control
from engine.errors import InvalidRequest
from engine.request import CODES_PER_SECOND, SongRequest
from engine.song_model import Decoded, Encoded, Expected, Latents, Plan, Track
from engine.yue2.chunks import Performance
from engine.yue2.codec import Codec
from engine.yue2.description import description
from engine.yue2.files.checkpoint import check_folder
from engine.yue2.files.config import read_model_config, read_vae_config
from engine.yue2.files.digests import check_manifest, short_digest
from engine.yue2.files.tensors import model_tensors, vae_tensors
from engine.yue2.fingerprint import Fingerprint, difference
from engine.yue2.machine.capacity import Capacity, capacity_of
from engine.yue2.machine.device import choose_device, device_name, pin_numerics, threads_of
from engine.yue2.machine.economy import Economy
from engine.yue2.machine.memory import BRANCHES
from engine.yue2.mastering import Mastering
from engine.yue2.network.precision import choose
from engine.yue2.options import Yue2Options
from engine.yue2.parts import Parts, Source
from engine.yue2.rendering import Renderer, state_dtype
from engine.yue2.stages import (
    ACOUSTIC,
    ACOUSTIC_PART,
    ANALYSING,
    DECODER_PART,
    DECODING,
    ENCODER_PART,
    ENCODING,
    NEEDED_PARTS,
    SCORE,
    SEMANTIC,
    VAE_PART,
    Length,
    Work,
    acoustic_units,
    remaining_of,
    score_length,
    song_stages,
    sound_stages,
    with_loading,
    work_of,
)
from engine.yue2.text.prompt import Prompts, guidance
from engine.yue2.text.tokenizer import Tokenizer
from engine.yue2.writing import Draft, Writer


def open_yue2(options: Yue2Options) -> "Yue2Model":
    """The model of two folders, whose configurations, manifests and headers are checked; weights load with the first
    work.

    Pins how this process calculates. Raises CheckpointError and DeviceError.
    """
    pin_numerics()
    model, vae = read_model_config(options.model_folder), read_vae_config(options.vae_folder)
    weights = [short_digest(check_manifest(folder)) for folder in (options.model_folder, options.vae_folder)]
    check_folder(options.model_folder, model_tensors(model))
    check_folder(options.vae_folder, vae_tensors(vae))
    device = choose_device(options.device)
    precision = choose(device, options.precision)
    state = state_dtype(options.flow_state, precision)
    source = Source(
        options.model_folder, options.vae_folder, options.digest_file, model, vae, device, precision
    )
    capacity = capacity_of(options.model_folder, model, vae, device, precision, options.residency)
    machine = Fingerprint(
        device=device_name(device),
        torch=torch.__version__,
        threads=threads_of(device),
        precision=precision.name,
        state=str(state).removeprefix("torch."),
        weights=weights[0],
        vae=weights[1],
        lm_batch=1,
        synth_batch=1,
        tile_frames=capacity.allowed.core_frames,
    )
    return Yue2Model(source, capacity, Tokenizer(options.model_folder), machine, state)


class Yue2Model:
    """Owner of the parts of one YuE2 model; its `SongModel` and `LatentCodec`.

    A song with the same fingerprint is the same to the last bit whatever was done, cancelled or failed before it, and
    whether parts are kept or loaded stage by stage. Where memory runs out less is done at once; the fingerprint of
    what was made then says so.
    """

    id = "yue2"

    def __init__(
        self,
        source: Source,
        capacity: Capacity,
        tokenizer: Tokenizer,
        machine: Fingerprint,
        state: torch.dtype,
    ) -> None:
        """Loads no weights; `machine` is what a song alone is made on, `state` the solver's number format."""
        vae, self._allowed = source.vae, capacity.allowed
        self._source = source
        self._sizes = capacity.sizes
        self._machine = machine
        self._prompts = Prompts(tokenizer)
        self._parts = Parts(source, self._allowed.positions)
        self._writer = Writer(self._parts, tokenizer)
        self._renderer = Renderer(self._parts, self._allowed.positions, vae.latent_dim, state)
        self._codec = Codec(self._parts, vae.latent_dim)
        self._mastering = Mastering(self.id, self._codec, vae.sample_rate_hz, machine)

    @property
    def rates_id(self) -> str:
        """Model, kind of device and precision."""
        return f"{self.id} {self._source.device.type} {self._source.precision.name}"

    @property
    def latent_channels(self) -> int:
        """C of its latents."""
        return self._source.vae.latent_dim

    @property
    def sample_rate_hz(self) -> int:
        """The rate of its sound."""
        return self._source.vae.sample_rate_hz

    @property
    def shortest_seconds(self) -> float:
        """The least audio that it encodes: one row of latents."""
        return self._source.vae.downsampling_ratio / self._source.vae.sample_rate_hz

    def describe(self) -> dict[str, JsonValue]:
        """What `/props` tells of it; see `engine.yue2.description`."""
        source = self._source
        return description(
            self.id,
            self._machine.device,
            source.precision,
            self._sizes,
            self._allowed,
            source.model,
            source.vae,
        )

    def check(self, request: SongRequest, latents: Latents | None = None) -> None:
        """Raise InvalidRequest, naming the field, for adapters, for what does not fit the context, and for latents
        of another shape or beside fields that they leave no use for. Any text is a score: the model sings it.
        """
        self._check_adapters(request)
        if latents is not None:
            self._codec.check(latents)
            _check_beside_latents(request)
            return
        work = work_of(request)
        if work.draws_codes and len(work.codes) >= work.budget:
            seconds = work.budget / CODES_PER_SECOND
            raise InvalidRequest(
                "keep_codes",
                f"keep_codes must be less than {work.budget}, the codes of the {seconds:g} s that the song may last; keep fewer, "
                "or raise duration and semantic_sampling.max_tokens.",
            )
        self._prompts.check(request)

    def check_plan(self, request: SongRequest) -> None:
        """As `check`, for a score alone; a plan is a score, so `cot` must not be off."""
        self._check_adapters(request)
        if request.cot == "off":
            raise InvalidRequest("cot", "A plan is a score; set cot to full or melody.")
        self._prompts.check_plan(request)

    def plan(self, request: SongRequest, control: Control) -> Plan:
        """The score of the request: the one it brings, else a new one drawn with `lm_seed`."""
        if request.abc.strip():
            return Plan(request.abc)
        alone = _score_alone(request)
        work = work_of(alone)
        prefix = self._prompts.open_prefix(request.style, request.lyrics, request.cot)
        economy = self._economy(len(prefix) + request.abc_sampling.max_tokens + 1)
        (draft,) = economy.run(lambda allowed: self._writer.scores(alone, work, allowed, control))
        # What the stage's time is learnt against.
        control.expect(SCORE, max(1, len(draft.score_ids)), "history")
        return Plan(draft.abc, (*draft.notes, *economy.notes))

    def generate(
        self, request: SongRequest, control: Control, latents: Latents | None = None
    ) -> Iterator[Track]:
        """Tracks, song-major; the request's seeds are resolved. With latents only their decoding is left to do.

        Raises EngineError where a song ends before it begins, NumericalError, CheckpointError and OutOfMemory.
        """
        if latents is not None:
            economy = self._economy(self._allowed.positions)
            yield self._mastering.decoded(request, latents, economy, control)
            return
        work = work_of(request)
        economy = self._economy(self._longest(request, work))
        drafts = self._drafts(request, work, economy, control)
        songs = [Performance(self._writer.prefix(request, draft), draft.codes) for draft in drafts]
        seeds = range(request.seed, request.seed + request.synth_batch_size)
        renderings = economy.run(
            lambda allowed: self._renderer.render(songs, seeds, request.steps, allowed, control)
        )
        for song, (draft, rendering) in enumerate(zip(drafts, renderings, strict=True)):
            for variation in range(len(seeds)):
                place = (song, variation)
                yield self._mastering.track(request, place, draft, rendering, economy, control)

    def stages(self, request: SongRequest, latents: Latents | None = None) -> list[Expected]:
        """Phases of `generate`, and the caller's `encoding` after each track; units as in `engine.yue2.stages`."""
        if latents is not None:
            return self._with_loading(sound_stages(Length(len(latents), "history")))
        return self._with_loading(song_stages(request))

    def plan_stages(self, request: SongRequest) -> list[Expected]:
        """Phases of `plan`; none where the score is there."""
        if request.abc.strip():
            return []
        return self._with_loading([Expected(SCORE, request.abc_sampling.max_tokens, "budget")])

    def notes(self, request: SongRequest, latents: Latents | None = None) -> tuple[str, ...]:
        """A sentence for a replay that was made with other weights, on another machine, or otherwise at once."""
        if latents is not None:
            return difference(request.fingerprint, self._machine, "sound")
        branches = 1 if guidance(request.cot, request.cfg_scale) == 1 else BRANCHES
        songs = min(request.lm_batch_size, self._allowed.songs_at_once(branches))
        variations = min(request.synth_batch_size, self._allowed.variations)
        here = replace(self._machine, lm_batch=songs, synth_batch=variations)
        return difference(request.fingerprint, here, remaining_of(request))

    def unload(self) -> None:
        """Give memory back; the next work loads again."""
        self._parts.release()

    def check_latents(self, latents: Latents) -> None:
        """Raise InvalidRequest('latents') unless they are (T, C), finite and within the longest song."""
        self._codec.check(latents)

    def encode(self, samples: Samples, control: Control) -> Encoded:
        """Latents (T, C) of stereo samples (N, 2) at 48 kHz. Raises InvalidRequest('audio'), OutOfMemory."""
        economy = self._economy(self._allowed.positions)
        latents = economy.run(lambda allowed: self._codec.encode(samples, allowed, control))
        return Encoded(latents, economy.notes)

    def decode(self, latents: Latents, control: Control) -> Decoded:
        """Samples (1920 T - 64, 2) at 48 kHz, not clipped. Raises NumericalError, OutOfMemory."""
        economy = self._economy(self._allowed.positions)
        samples = economy.run(lambda allowed: self._codec.decode(latents, allowed, control))
        return Decoded(samples, economy.notes)

    def finished(self, samples: Samples, output_format: str, peak_clip: int, control: Control) -> Samples:
        """Decoded samples at the level that a song has, changed in place; as they are for 32-bit WAV."""
        return self._codec.finished(samples, output_format, peak_clip, control)

    def encode_stages(self, seconds: float) -> list[Expected]:
        """Phases of `encode` of audio of that length."""
        return self._with_loading([Expected(ANALYSING, seconds)])

    def decode_stages(self, frames: int) -> list[Expected]:
        """Phases of `decode` of so many latent rows."""
        return self._with_loading([Expected(DECODING, frames / CODES_PER_SECOND)])

    def _drafts(self, request: SongRequest, work: Work, economy: Economy, control: Control) -> list[Draft]:
        """All songs as tokens; tells the control their lengths as they become known."""
        scored = economy.run(lambda allowed: self._writer.scores(request, work, allowed, control))
        if work.writes_score:
            control.expect(SCORE, max(1, *(len(draft.score_ids) for draft in scored)), "history")
        lengths = [_length(work, draft, control) for draft in scored]
        frames = max(length.frames for length in lengths)
        if work.draws_codes:
            control.expect(SEMANTIC, max(1, frames - len(work.codes)), lengths[0].source)
        _expect_sound(request, lengths, control)
        drafts = economy.run(
            lambda allowed: self._writer.performed(request, work, scored, frames, allowed, control)
        )
        if work.draws_codes:  # what the stage's time is learnt against
            drawn = max(len(draft.codes) for draft in drafts) - len(work.codes)
            control.expect(SEMANTIC, max(1, drawn), "history")
        _expect_sound(request, [Length(len(draft.codes), "history") for draft in drafts], control)
        return drafts

    def _economy(self, longest: int) -> Economy:
        """For a job whose longest sequence has so many positions."""
        return Economy(self._allowed, min(longest, self._allowed.positions), self._parts.release)

    def _longest(self, request: SongRequest, work: Work) -> int:
        """Prefix, codes, music end, and as many acoustic rows with their marks."""
        frames = work.budget if work.draws_codes else len(work.codes)
        prefix = len(self._writer.prefix(request, self._writer.given(request)))
        if work.writes_score:
            prefix += request.abc_sampling.max_tokens
        return prefix + 2 * frames + 3

    def _with_loading(self, stages: Sequence[Expected]) -> list[Expected]:
        sizes = {
            DECODER_PART: self._sizes.decoder_bytes,
            ACOUSTIC_PART: self._sizes.acoustic_bytes,
            VAE_PART: self._sizes.vae_decoder_bytes,
            ENCODER_PART: self._sizes.vae_encoder_bytes,
        }
        loaded = self._parts.loaded
        if self._allowed.staged:  # only what is needed first is still there when it is needed
            loaded &= set(NEEDED_PARTS[stages[0].phase][:1])
        return with_loading(stages, {part: size for part, size in sizes.items() if part not in loaded})

    def _check_adapters(self, request: SongRequest) -> None:
        if request.lora:
            raise InvalidRequest("lora", f"The model {self.id!r} takes no adapters yet; send an empty list.")


def _check_beside_latents(request: SongRequest) -> None:
    beside = {
        "semantic_tokens": bool(request.semantic_tokens.strip()),
        "keep_codes": request.keep_codes > 0,
        "lm_batch_size": request.lm_batch_size > 1,
        "synth_batch_size": request.synth_batch_size > 1,
    }
    for field, asked in beside.items():
        if asked:
            raise InvalidRequest(
                field, f"{field} has no use beside latents, which are one track; leave it out."
            )


def _score_alone(request: SongRequest) -> SongRequest:
    """A request for one score, whatever else was asked for."""
    return request.model_copy(update={"lm_batch_size": 1, "semantic_tokens": "", "keep_codes": 0})


def _length(work: Work, draft: Draft, control: Control) -> Length:
    """How long a song will be by its score, or exactly where its codes are given."""
    if not work.draws_codes:
        return Length(len(work.codes), "history")
    return score_length(draft.abc, work.budget, control.check_cancelled)


def _expect_sound(request: SongRequest, lengths: Sequence[Length], control: Control) -> None:
    """Tell the control how much there is to render and to decode."""
    source = "budget" if any(length.source == "budget" for length in lengths) else lengths[0].source
    seconds = sum(length.seconds for length in lengths) * request.synth_batch_size
    control.expect(ACOUSTIC, acoustic_units(seconds, request.steps), source)
    control.expect(DECODING, lengths[0].seconds, source)
    control.expect(ENCODING, lengths[0].seconds, source)
