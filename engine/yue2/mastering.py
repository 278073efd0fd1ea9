"""From latents to tracks: sound at its level, and the replay that says what it was made of and on what."""

from dataclasses import replace

from pydantic import JsonValue

from engine.audio import Samples
from engine.control import Control
from engine.request import CODES_PER_SECOND, SongRequest, replay_of
from engine.song_model import Latents, Track
from engine.yue2.codec import Codec
from engine.yue2.fingerprint import Fingerprint, difference
from engine.yue2.machine.economy import Economy
from engine.yue2.rendering import Rendering
from engine.yue2.stages import DECODING, ENCODING, remaining_of
from engine.yue2.writing import Draft

LATENTS_NOTE = "This track was decoded from latents; send them again with its replay."


class Mastering:
    """Makes the tracks of one model; owns nothing but the way to its codec."""

    def __init__(self, model_id: str, codec: Codec, sample_rate_hz: int, machine: Fingerprint) -> None:
        """`machine` is what a song alone is made on."""
        self._model_id = model_id
        self._codec = codec
        self._rate = sample_rate_hz
        self._machine = machine

    def track(
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
        made = replace(
            self._machine,
            lm_batch=draft.together,
            synth_batch=rendering.together,
            tile_frames=economy.allowance.core_frames,
        )
        replay = replay_of(
            request,
            song,
            variation,
            model=self._model_id,
            abc=draft.abc,
            codes=draft.codes,
            abc_tokens=draft.score_ids,
            fingerprint=made.to_json(),
        )
        told = difference(request.fingerprint, made, remaining_of(request))
        return self._finished(request, replay, samples, latents, (*draft.notes, *economy.notes, *told))

    def decoded(self, request: SongRequest, latents: Latents, economy: Economy, control: Control) -> Track:
        """The track of latents (T, C) that were sent."""
        samples = self._sound(latents, request, economy, control)
        made = replace(self._machine, tile_frames=economy.allowance.core_frames)
        replay = replay_of(
            request,
            0,
            0,
            model=self._model_id,
            abc=request.abc,
            abc_tokens=request.score_ids,
            fingerprint=made.to_json(),
        )
        told = difference(request.fingerprint, made, "sound")
        return self._finished(request, replay, samples, latents, (LATENTS_NOTE, *economy.notes, *told))

    def _finished(
        self,
        request: SongRequest,
        replay: dict[str, JsonValue],
        samples: Samples,
        latents: Latents,
        notes: tuple[str, ...],
    ) -> Track:
        kept = latents if request.output == "latents" else None
        return Track(replay, samples, self._rate, len(samples) / self._rate, kept, notes)

    def _sound(self, latents: Latents, request: SongRequest, economy: Economy, control: Control) -> Samples:
        """Samples at the level that the request asks for."""
        seconds = len(latents) / CODES_PER_SECOND
        control.expect(DECODING, seconds)
        samples = economy.run(lambda allowed: self._codec.decode(latents, allowed, control))
        control.expect(ENCODING, seconds)  # only now: before, the last track's encoding may not be over
        return self._codec.finished(samples, request.output_format, request.peak_clip, control)
