"""Work for a model's audio codec alone: audio into latents and back."""

import io
from dataclasses import dataclass
from typing import Final

from engine.audio import UNTOLD_FRAMES, AudioHeader, Samples, decode, read_header, resample, stereo
from engine.catalogue import Catalogue
from engine.control import Check, Control
from engine.errors import InvalidRequest
from engine.request import CODES_PER_SECOND, CONTEXT_TOKENS
from engine.song_model import Encoded, Expected, Latents, SongCodec
from engine.vae_request import DecodeRequest, EncodeRequest
from server.latents import LATENT_TYPE, read_latents, write_latents
from server.work import Making, Packed, Prepared, digest_of, form_of, sha256_of, stages_of, write_audio
from storage.entry import Part

SLOWEST_HZ: Final = 8_000
FASTEST_HZ: Final = 384_000
MOST_MISSING_SECONDS: Final = 0.25  # what the lengths told by lossy formats may be off by
LONGEST_SECONDS: Final = CONTEXT_TOKENS / CODES_PER_SECOND
_OPERATION: Final = "vae"


@dataclass(frozen=True, slots=True)
class _Recording:
    """An audio file that was sent, and what its header says."""

    file: io.BytesIO
    header: AudioHeader


class CodecOperations:
    """Checks what is to go through the codec and says what work it means."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def check(self, asked: EncodeRequest | DecodeRequest) -> None:
        """Raise UnknownModel or InvalidRequest where there is no such codec, before its file is read."""
        self._catalogue.codec(asked.model)

    def encode(self, asked: EncodeRequest, audio: io.BytesIO) -> Prepared:
        """An audio file into latents. Raises UnknownModel, InvalidRequest."""
        codec = self._catalogue.codec(asked.model)
        recording = _Recording(audio, read_header(audio, field="audio", most_samples=_most_samples(codec)))
        _check_audio(codec, recording.header)
        fields = {"op": "encode", "model": codec.id, "audio": sha256_of(audio.getbuffer())}
        return Prepared(
            operation=_OPERATION,
            model=codec.id,
            stages=stages_of(codec.encode_stages(recording.header.seconds)),
            digest=digest_of(_OPERATION, fields),
            work=lambda making: _write_encoded(codec, recording, making),
            rates_id=codec.rates_id,
            input_bytes=audio.getbuffer().nbytes,
        )

    def decode(self, asked: DecodeRequest, sent: io.BytesIO) -> Prepared:
        """Latents into audio. Raises UnknownModel, InvalidRequest."""
        codec, raw = self._catalogue.codec(asked.model), sent.getbuffer()
        latents = read_latents(raw, codec.latent_channels)
        codec.check_latents(latents)
        seconds = len(latents) / CODES_PER_SECOND
        fields = asked.model_dump() | {"op": "decode", "model": codec.id, "latents": sha256_of(raw)}
        return Prepared(
            operation=_OPERATION,
            model=codec.id,
            stages=stages_of([*codec.decode_stages(len(latents)), Expected("encoding", seconds, "score")]),
            digest=digest_of(_OPERATION, fields),
            work=lambda making: _write_decoded(codec, latents, asked, making),
            rates_id=codec.rates_id,
            input_bytes=raw.nbytes,
        )


def _check_audio(codec: SongCodec, header: AudioHeader) -> None:
    if header.frames >= UNTOLD_FRAMES:
        raise InvalidRequest(
            "audio",
            "The audio file does not tell its length and holds more than is read here; save it again, or send a part.",
        )
    if not SLOWEST_HZ <= header.rate_hz <= FASTEST_HZ:
        raise InvalidRequest(
            "audio",
            f"The audio has a rate of {header.rate_hz} Hz; send one of {SLOWEST_HZ} to {FASTEST_HZ} Hz, "
            f"{codec.sample_rate_hz} Hz at best.",
        )
    if not codec.shortest_seconds <= header.seconds <= LONGEST_SECONDS:
        raise InvalidRequest(
            "audio",
            f"The audio must last {codec.shortest_seconds} to {LONGEST_SECONDS} seconds; it lasts {header.seconds:.10g}.",
        )
    if header.frames * header.channels > _most_samples(codec):
        raise InvalidRequest(
            "audio",
            f"The audio has {header.channels} channels of {header.rate_hz} Hz, more samples than are read here; "
            f"send stereo of {codec.sample_rate_hz} Hz.",
        )


def _most_samples(codec: SongCodec) -> int:
    """The longest song in stereo at twice the rate, 755 MB at 48 kHz."""
    return int(LONGEST_SECONDS * codec.sample_rate_hz) * 4


def _write_encoded(codec: SongCodec, recording: _Recording, making: Making) -> Packed:
    with making.stopwatch.pipeline():
        encoded = _encoded(codec, recording, making.control)
    write_latents(encoded.latents, making.sink)
    seconds, name = recording.header.seconds, f"{making.job_id}.f32"
    part = Part("latents", 0, LATENT_TYPE, 0, making.sink.tell(), seconds, name)
    return Packed(LATENT_TYPE, (part,), encoded.notes)


def _encoded(codec: SongCodec, recording: _Recording, control: Control) -> Encoded:
    check = control.check_cancelled
    check()
    samples, rate = _decoded(recording, check)
    return codec.encode(resample(stereo(samples, check), rate, codec.sample_rate_hz, check), control)


def _decoded(recording: _Recording, check: Check) -> tuple[Samples, int]:
    """Samples (N, C) and their rate. Raises InvalidRequest where there are not as many as the header tells."""
    header = recording.header
    try:
        samples, rate = decode(recording.file, field="audio", most_frames=header.frames, check=check)
    except InvalidRequest as error:
        raise InvalidRequest(
            "audio",
            "The audio file cannot be read to its end, so it is damaged or was cut short; save it again.",
        ) from error
    if len(samples) < header.frames - MOST_MISSING_SECONDS * rate:
        raise InvalidRequest(
            "audio",
            f"The audio file holds {len(samples) / rate:.2f} of the {header.seconds:.2f} seconds that it tells, so it is "
            "damaged or was cut short; save it again.",
        )
    return samples, rate


def _write_decoded(codec: SongCodec, latents: Latents, asked: DecodeRequest, making: Making) -> Packed:
    control, sink, rate = making.control, making.sink, codec.sample_rate_hz
    with making.stopwatch.pipeline():
        decoded = codec.decode(latents, control)
        samples = codec.finished(decoded.samples, asked.output_format, asked.peak_clip, control)
    form = form_of(asked)
    write_audio(samples, rate, form, sink, control)
    length, name = sink.seek(0, io.SEEK_END), f"{making.job_id}.{form.extension}"
    part = Part("audio", 0, form.content_type, 0, length, len(samples) / rate, name)
    return Packed(form.content_type, (part,), decoded.notes)
