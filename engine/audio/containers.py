"""Sound tracks of files that libsndfile does not read (AAC, M4A, WebM, video) by FFmpeg, where PyAV is installed.

A file chosen by a stranger reaches FFmpeg here, so only the formats and codecs listed are opened, and nothing beside the
file itself: playlists and references to other files and addresses are not followed. FFmpeg's own list of codecs binds
its first look at a file alone, so the track's codec is looked up here before it is decoded.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from engine.audio.source import plain, unreadable
from engine.errors import InvalidRequest

if TYPE_CHECKING:
    from av import AudioFrame, AudioStream
    from av.container import InputContainer

FORMATS: Final = "aac,ac3,amr,asf,avi,eac3,flv,loas,matroska,mov,mp3,mp4,mpeg,mpegts,ogg,wav,webm,wv,3gp,m4a"
_CODECS: Final = (
    "aac,aac_latm,ac3,alac,amrnb,amrwb,eac3,flac,mp1float,mp2float,mp3float,opus,pcm_alaw,pcm_f32le,pcm_mulaw,pcm_s16be,"
    "pcm_s16le,pcm_s24be,pcm_s24le,pcm_s32le,pcm_u8,vorbis,wavpack,wmapro,wmav1,wmav2"
)
CODECS: Final = frozenset(_CODECS.split(","))
INSTALLATION: Final = ".venv/bin/pip install -c constraints.txt -e '.[containers]' in the server's folder and restart the server."
BROKEN: Final = "The audio is damaged or cut short; send the whole file again."
_KNOW_LENGTH: Final = ("mov,mp4,m4a,3gp,3g2,mj2", "matroska,webm")  # the others' is a guess by FFmpeg
# Of the length told, less half a second: tracks may be a little shorter than their file.
_LEAST_PART: Final = 0.98
_GUARDS: Final = {  # options of FFmpeg's demuxers (ffmpeg.org/ffmpeg-formats.html)
    "format_whitelist": FORMATS,
    "codec_whitelist": _CODECS,
    "protocol_whitelist": "",  # none: the file is opened here, not by FFmpeg
    "probesize": str(5 * 2**20),
}


@dataclass(frozen=True, slots=True)
class Source:
    """One channel of sound at the rate it has in its file; `seconds` is None where the file does not say."""

    rate_hz: int
    seconds: float | None
    blocks: Iterator[NDArray[np.float32]]  # each (N,)


@contextmanager
def container_blocks(source: Path | BinaryIO, field: str, reason: str) -> Iterator[Source]:
    """The first sound track of a file that libsndfile refused for `reason`.

    Raises InvalidRequest, naming `field`, where PyAV is not installed, FFmpeg cannot read it either, its codec is not
    one of CODECS, or there is no sound in it; and while blocks are read, where the file is damaged.
    """
    try:
        import av
    except ImportError as error:
        raise _uninstalled(field, reason) from error
    with ExitStack() as opened:
        file = opened.enter_context(source.open("rb")) if isinstance(source, Path) else source
        try:
            container = av.open(file, mode="r", container_options=_GUARDS, metadata_errors="ignore")
        except (av.FFmpegError, ValueError) as error:
            raise unreadable(field, reason, "WAV, FLAC, MP3, Ogg, M4A or WebM") from error
        opened.enter_context(container)
        track = _track(container, field)
        as_float = av.AudioResampler(format="fltp", rate=track.rate).resample
        blocks = _decoded(container.decode(track), as_float, (av.FFmpegError, ValueError), field)
        seconds = _seconds(track.duration, track.time_base, container.duration)
        if container.format.name in _KNOW_LENGTH and (track.duration or len(container.streams) == 1):
            blocks = _whole(blocks, round((seconds or 0) * track.rate * _LEAST_PART) - track.rate // 2, field)
        yield Source(track.rate, seconds, blocks)


def _track(container: "InputContainer", field: str) -> "AudioStream":
    """The first sound track, if it can be decoded here; of another not even the rate is known."""
    if not container.streams.audio:
        raise InvalidRequest(field, "There is no sound in the file; send one with a sound track.")
    track = container.streams.audio[0]
    if track.codec_context is None or track.codec_context.name not in CODECS:
        raise InvalidRequest(
            field,
            "The sound in the file is of a kind that is not read here; send it as WAV, FLAC, MP3 or AAC.",
        )
    if not track.rate or not track.channels:
        raise InvalidRequest(field, BROKEN)
    return track


def _whole(blocks: Iterator[NDArray[np.float32]], least: int, field: str) -> Iterator[NDArray[np.float32]]:
    """The blocks, which FFmpeg ends without a word where a file is cut; at least so many samples must come."""
    count = 0
    for block in blocks:
        count += len(block)
        yield block
    if count < least:
        raise InvalidRequest(field, BROKEN)


def _decoded(
    frames: "Iterator[AudioFrame]",
    as_float: "Callable[[AudioFrame | None], list[AudioFrame]]",
    faults: tuple[type[Exception], ...],
    field: str,
) -> Iterator[NDArray[np.float32]]:
    """Blocks (N,) of the frames, and of what the conversion still holds at their end."""
    try:
        for frame in chain(frames, [None]):
            for part in as_float(frame):
                yield one_channel(np.asarray(part.to_ndarray(), np.float32).T)
    except faults as error:
        raise InvalidRequest(field, BROKEN) from error


def one_channel(samples: NDArray[np.float32]) -> NDArray[np.float32]:
    """(N, C) as (N,): the mean, which is loud only where all channels are; what is no number is silence."""
    clean = np.nan_to_num(samples, nan=0.0, posinf=1.0, neginf=-1.0)
    mono: NDArray[np.float32] = np.clip(clean, -1, 1).mean(axis=1, dtype=np.float32)
    return mono


def _seconds(ticks: int | None, tick: Fraction | None, microseconds: int | None) -> float | None:
    """The track's length by its own clock, else the file's."""
    if ticks is not None and tick is not None:
        return float(ticks * tick)
    return None if microseconds is None else microseconds / 1_000_000


def _uninstalled(field: str, reason: str) -> InvalidRequest:
    return InvalidRequest(
        field,
        f"The audio cannot be read ({plain(reason)}); send WAV, FLAC, MP3 or Ogg. For M4A, AAC, WebM and video "
        f"the server needs PyAV: run {INSTALLATION}",
    )
