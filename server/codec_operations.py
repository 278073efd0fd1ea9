"""Work for a model's audio codec alone: audio into latents and back."""

import io
from dataclasses import dataclass
from typing import BinaryIO, Final

from engine.audio import (
    AudioHeader,
    content_type,
    decode,
    encode,
    extension,
    read_header,
    resample,
    stereo,
)
from engine.catalogue import Catalogue
from engine.control import Control
from engine.errors import InvalidRequest
from engine.request import CODES_PER_SECOND, CONTEXT_TOKENS
from engine.song_model import Expected, Latents, SongCodec
from engine.vae_request import DecodeRequest, EncodeRequest
from server.jobs.rates import Stage
from server.latents import LATENT_TYPE, read_latents, write_latents
from server.work import Packed, Prepared, Stopwatch, Work, digest_of, sha256_of
from storage.entry import Part

RATE_HZ: Final = 48_000
LONGEST_SECONDS: Final = CONTEXT_TOKENS / CODES_PER_SECOND
SHORTEST_SECONDS: Final = 1_920 / RATE_HZ  # one row of latents
MOST_SAMPLES: Final = (
    int(LONGEST_SECONDS * RATE_HZ) * 4
)  # the longest song in stereo at twice the rate, 755 MB
_OPERATION: Final = "vae"


@dataclass(frozen=True, slots=True)
class _Recording:
    """An audio file that was sent, and what its header says."""

    raw: bytes
    header: AudioHeader


class CodecOperations:
    """Checks what is to go through the codec and says what work it means."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def encode(self, asked: EncodeRequest, audio: bytes) -> Prepared:
        """An audio file into latents. Raises UnknownModel, InvalidRequest."""
        codec = self._catalogue.codec(asked.model)
        recording = _Recording(audio, read_header(io.BytesIO(audio), field="audio"))
        _check_audio(recording.header)

        def work(job_id: str, sink: BinaryIO, control: Control, stopwatch: Stopwatch) -> Packed:
            with stopwatch.pipeline():
                latents = _encoded(codec, recording, control)
            write_latents(latents, sink)
            part = Part("latents", 0, LATENT_TYPE, 0, sink.tell(), recording.header.seconds, f"{job_id}.f32")
            return Packed(LATENT_TYPE, (part,))

        expected = codec.encode_stages(recording.header.seconds)
        fields = {"op": "encode", "model": codec.id, "audio": sha256_of(audio)}
        return _prepared(codec, expected, digest_of(_OPERATION, fields), work)

    def decode(self, asked: DecodeRequest, raw: bytes) -> Prepared:
        """Latents into audio. Raises UnknownModel, InvalidRequest."""
        codec = self._catalogue.codec(asked.model)
        latents = read_latents(raw, codec.latent_channels)
        codec.check_latents(latents)

        def work(job_id: str, sink: BinaryIO, control: Control, stopwatch: Stopwatch) -> Packed:
            return _write_decoded(codec, latents, asked, job_id, sink, control, stopwatch)

        seconds = len(latents) / CODES_PER_SECOND
        expected = [*codec.decode_stages(len(latents)), Expected("encoding", seconds, "score")]
        fields = asked.model_dump() | {"op": "decode", "model": codec.id, "latents": sha256_of(raw)}
        return _prepared(codec, expected, digest_of(_OPERATION, fields), work)


def _prepared(codec: SongCodec, expected: list[Expected], digest: str, work: Work) -> Prepared:
    stages = tuple(Stage(stage.phase, stage.units, stage.source) for stage in expected)
    return Prepared(_OPERATION, codec.id, stages, digest, work, codec.rates_id)


def _check_audio(header: AudioHeader) -> None:
    if not SHORTEST_SECONDS <= header.seconds <= LONGEST_SECONDS:
        raise InvalidRequest(
            "audio",
            f"The audio must last {SHORTEST_SECONDS} to {LONGEST_SECONDS} seconds; it lasts {header.seconds:.2f}.",
        )
    if header.frames * header.channels > MOST_SAMPLES:
        raise InvalidRequest(
            "audio",
            f"The audio has {header.channels} channels of {header.rate_hz} Hz, more samples than are read here; "
            f"send stereo of {RATE_HZ} Hz.",
        )


def _encoded(codec: SongCodec, recording: _Recording, control: Control) -> Latents:
    check = control.check_cancelled
    check()
    most = recording.header.frames
    samples, rate = decode(io.BytesIO(recording.raw), field="audio", most_frames=most)
    return codec.encode(resample(stereo(samples, check), rate, RATE_HZ, check), control)


def _write_decoded(
    codec: SongCodec,
    latents: Latents,
    asked: DecodeRequest,
    job_id: str,
    sink: BinaryIO,
    control: Control,
    stopwatch: Stopwatch,
) -> Packed:
    with stopwatch.pipeline():
        samples = codec.decode(latents, control)
        if asked.output_format != "wav32":
            samples = codec.levelled(samples, asked.peak_clip)
    control.report("encoding", 0.0)
    encode(samples, RATE_HZ, asked.output_format, asked.mp3_bitrate, sink, control.check_cancelled)
    control.report("encoding", 1.0)
    kind, name = content_type(asked.output_format), f"{job_id}.{extension(asked.output_format)}"
    length = sink.seek(0, io.SEEK_END)
    return Packed(kind, (Part("audio", 0, kind, 0, length, len(samples) / RATE_HZ, name),))
