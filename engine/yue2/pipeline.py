"""The YuE2 model: a score, semantic codes, acoustic latents and sound, in this order, as `engine.song_model` asks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from pydantic import JsonValue

from engine.audio import Samples
from engine.control import Control
from engine.errors import InvalidRequest
from engine.request import CODES_PER_SECOND, SongRequest, replay_of
from engine.song_model import Expected, Latents, Plan, Track
from engine.yue2.codec import Codec
from engine.yue2.description import description
from engine.yue2.files.checkpoint import check_folder
from engine.yue2.files.config import read_model_config, read_vae_config
from engine.yue2.files.tensors import model_tensors, vae_tensors
from engine.yue2.fingerprint import Fingerprint, difference
from engine.yue2.machine.capacity import capacity_of
from engine.yue2.machine.device import choose_device, device_name, pin_numerics, threads_of
from engine.yue2.machine.economy import Economy
from engine.yue2.machine.memory import BRANCHES, Allowance, Footprint
from engine.yue2.network.precision import choose
from engine.yue2.parts import Parts, Source
from engine.yue2.rendering import Performance, Renderer, Rendering
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
    score_length,
    song_stages,
    sound_stages,
    with_loading,
    work_of,
)
from engine.yue2.text.prompt import Prompts, guidance
from engine.yue2.text.tokenizer import Tokenizer
from engine.yue2.writing import Draft, Writer

LATENTS_NOTE = "This track was decoded from latents; send them again with its replay."


@dataclass(frozen=True, slots=True)
class Yue2Options:
    """Where the two checkpoints lie, what is wished for, and the file that remembers which weights were verified."""

    model_folder: Path
    vae_folder: Path
    digest_file: Path
    device: str = "auto"
    precision: str = "auto"
    residency: str = "auto"


def open_yue2(options: Yue2Options) -> "Yue2Model":
    """The model of two folders, whose configurations and headers are checked; weights load with the first work.

    Pins how this process calculates. Raises CheckpointError and DeviceError.
    """
    pin_numerics()
    model, vae = read_model_config(options.model_folder), read_vae_config(options.vae_folder)
    check_folder(options.model_folder, model_tensors(model))
    check_folder(options.vae_folder, vae_tensors(vae))
    device = choose_device(options.device)
    precision = choose(device, options.precision)
    source = Source(
        options.model_folder, options.vae_folder, options.digest_file, model, vae, device, precision
    )
    capacity = capacity_of(options.model_folder, model, vae, device, precision, options.residency)
    return Yue2Model(source, capacity.sizes, capacity.allowed, Tokenizer(options.model_folder))


class Yue2Model:
    """Owner of the parts of one YuE2 model; its `SongModel` and `LatentCodec`.

    A song is the same to the last bit whatever was done, cancelled or failed before it, and whether parts are kept
    or loaded stage by stage.
    """

    id = "yue2"

    def __init__(self, source: Source, sizes: Footprint, allowed: Allowance, tokenizer: Tokenizer) -> None:
        """Loads no weights; `allowed` is what a job may do at once."""
        self._source = source
        self._sizes = sizes
        self._allowed = allowed
        self._device_name = device_name(source.device)
        self._prompts = Prompts(tokenizer)
        self._parts = Parts(source, allowed.positions)
        self._writer = Writer(self._parts, tokenizer)
        self._renderer = Renderer(self._parts, allowed.positions, source.vae.latent_dim)
        self._codec = Codec(self._parts, source.vae.latent_dim)

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
            self.id, self._device_name, source.precision, self._sizes, self._allowed, source.model, source.vae
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
        economy = self._economy(alone)
        (draft,) = economy.run(lambda allowed: self._writer.scores(alone, allowed, control))
        # What the stage's time is learnt against.
        control.expect(SCORE, max(1, len(draft.score_ids)), "history")
        return Plan(draft.abc, (*draft.notes, *economy.notes))

    def generate(
        self, request: SongRequest, control: Control, latents: Latents | None = None
    ) -> Iterator[Track]:
        """Tracks, song-major; the request's seeds are resolved. With latents only their decoding is left to do.

        Raises EngineError where a song ends before it begins, NumericalError, CheckpointError and OutOfMemory.
        """
        economy = self._economy(request)
        if latents is not None:
            yield self._decoded_track(request, latents, economy, control)
            return
        drafts = self._drafts(request, economy, control)
        songs = [Performance(self._writer.prefix(request, draft), draft.codes) for draft in drafts]
        seeds = range(request.seed, request.seed + request.synth_batch_size)
        renderings = economy.run(
            lambda allowed: self._renderer.render(songs, seeds, request.steps, allowed, control)
        )
        for song, (draft, rendering) in enumerate(zip(drafts, renderings, strict=True)):
            for variation in range(len(seeds)):
                yield self._track(request, (song, variation), draft, rendering, economy, control)

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

    def notes(self, request: SongRequest) -> tuple[str, ...]:
        """A sentence for a replay that was made on another device, torch or number of threads, or in a batch."""
        branches = 1 if guidance(request.cot, request.cfg_scale) == 1 else BRANCHES
        songs = min(request.lm_batch_size, self._allowed.songs_at_once(branches))
        variations = min(request.synth_batch_size, self._allowed.variations)
        here = self._fingerprint(songs, variations)
        return difference(request.fingerprint, here, draws=work_of(request).draws_codes)

    def unload(self) -> None:
        """Give memory back; the next work loads again."""
        self._parts.release()

    def check_latents(self, latents: Latents) -> None:
        """Raise InvalidRequest('latents') unless they are (T, C), finite and within the longest song."""
        self._codec.check(latents)

    def encode(self, samples: Samples, control: Control) -> Latents:
        """Latents (T, C) of stereo samples (N, 2) at 48 kHz. Raises InvalidRequest('audio'), OutOfMemory."""
        economy = Economy(self._allowed, self._allowed.positions, self._parts.release)
        return economy.run(lambda allowed: self._codec.encode(samples, allowed, control))

    def decode(self, latents: Latents, control: Control) -> Samples:
        """Samples (1920 T - 64, 2) at 48 kHz, not clipped. Raises NumericalError, OutOfMemory."""
        economy = Economy(self._allowed, self._allowed.positions, self._parts.release)
        return economy.run(lambda allowed: self._codec.decode(latents, allowed, control))

    def finished(self, samples: Samples, output_format: str, peak_clip: int, control: Control) -> Samples:
        """Decoded samples at the level that a song has, changed in place; as they are for 32-bit WAV."""
        return self._codec.finished(samples, output_format, peak_clip, control)

    def encode_stages(self, seconds: float) -> list[Expected]:
        """Phases of `encode` of audio of that length."""
        return self._with_loading([Expected(ANALYSING, seconds)])

    def decode_stages(self, frames: int) -> list[Expected]:
        """Phases of `decode` of so many latent rows."""
        return self._with_loading([Expected(DECODING, frames / CODES_PER_SECOND)])

    def _drafts(self, request: SongRequest, economy: Economy, control: Control) -> list[Draft]:
        """All songs as tokens; tells the control their lengths as they become known."""
        work = work_of(request)
        scored = economy.run(lambda allowed: self._writer.scores(request, allowed, control))
        if work.writes_score:
            control.expect(SCORE, max(1, *(len(draft.score_ids) for draft in scored)), "history")
        lengths = [_length(work, draft, control) for draft in scored]
        frames = max(length.frames for length in lengths)
        if work.draws_codes:
            control.expect(SEMANTIC, max(1, frames - len(work.codes)), lengths[0].source)
        _expect_sound(request, lengths, control)
        drafts = economy.run(
            lambda allowed: self._writer.performed(request, scored, frames, allowed, control)
        )
        if work.draws_codes:  # what the stage's time is learnt against
            drawn = max(len(draft.codes) for draft in drafts) - len(work.codes)
            control.expect(SEMANTIC, max(1, drawn), "history")
        _expect_sound(request, [Length(len(draft.codes), "history") for draft in drafts], control)
        return drafts

    def _track(
        self,
        request: SongRequest,
        place: tuple[int, int],
        draft: Draft,
        rendering: Rendering,
        economy: Economy,
        control: Control,
    ) -> Track:
        """The track of a song and a variation, by their places."""
        song, variation = place
        latents: Latents = rendering.latents[variation].numpy()  # (T, C)
        samples = self._sound(latents, request, economy, control)
        made = self._fingerprint(draft.together, rendering.together)
        replay = replay_of(
            request,
            song,
            variation,
            model=self.id,
            abc=draft.abc,
            codes=draft.codes,
            abc_tokens=draft.score_ids,
            fingerprint=made.to_json(),
        )
        told = difference(request.fingerprint, made, draws=work_of(request).draws_codes)
        return self._finished(request, replay, samples, latents, (*draft.notes, *economy.notes, *told))

    def _decoded_track(
        self, request: SongRequest, latents: Latents, economy: Economy, control: Control
    ) -> Track:
        samples = self._sound(latents, request, economy, control)
        made = self._fingerprint(1, 1)
        replay = replay_of(
            request,
            0,
            0,
            model=self.id,
            abc=request.abc,
            abc_tokens=request.score_ids,
            fingerprint=made.to_json(),
        )
        told = difference(request.fingerprint, made, draws=False)
        return self._finished(request, replay, samples, latents, (LATENTS_NOTE, *economy.notes, *told))

    def _finished(
        self,
        request: SongRequest,
        replay: dict[str, JsonValue],
        samples: Samples,
        latents: Latents,
        notes: tuple[str, ...],
    ) -> Track:
        rate = self._source.vae.sample_rate_hz
        kept = latents if request.output == "latents" else None
        return Track(replay, samples, rate, len(samples) / rate, kept, notes)

    def _sound(self, latents: Latents, request: SongRequest, economy: Economy, control: Control) -> Samples:
        """Samples at the level that the request asks for."""
        seconds = len(latents) / CODES_PER_SECOND
        control.expect(DECODING, seconds)
        samples = economy.run(lambda allowed: self._codec.decode(latents, allowed, control))
        control.expect(ENCODING, seconds)  # only now: before, the last track's encoding may not be over
        return self.finished(samples, request.output_format, request.peak_clip, control)

    def _fingerprint(self, songs: int, variations: int) -> Fingerprint:
        device, precision = self._source.device, self._source.precision
        return Fingerprint(
            self._device_name, torch.__version__, threads_of(device), precision.name, songs, variations
        )

    def _economy(self, request: SongRequest) -> Economy:
        """For a job whose longest sequence is prefix, codes, music end, and as many acoustic rows with their marks."""
        work = work_of(request)
        frames = work.budget if work.draws_codes else len(work.codes)
        prefix = len(self._writer.prefix(request, self._writer.given(request)))
        if work.writes_score:
            prefix += request.abc_sampling.max_tokens
        longest = min(prefix + 2 * frames + 3, self._allowed.positions)
        return Economy(self._allowed, longest, self._parts.release)

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
