"""MPEG audio walked frame by frame, so that what it holds is known before it is decoded.

libsndfile guesses by its size how long a file is whose tag frame does not tell, reads no further than that guess or than
a count that is too low, and gives up at what lies between or behind the frames. So it is shown the frames alone, behind
a tag frame that counts them.

Formats: ISO/IEC 11172-3 and 13818-3; the tag frames of Xing and of VBRI. The half rates of MPEG 2.5 are no standard.
"""

import struct
from dataclasses import dataclass, field
from typing import BinaryIO, Final

from engine.audio.octets import Octets
from engine.audio.spliced import Spliced
from engine.errors import InvalidRequest

_KIND: Final = 0xFFFE0C00  # sync word, version, layer and rate: what all frames of a file share
_LIKELY: Final = rb"\xff[\xe2-\xff][\x10-\xef]"
_CHAIN: Final = 3  # so many headers, each where the frame before it ends, are no accident
_MOST_STARTS: Final = 2**16  # tried where a frame should begin and none does
_MOST_JOINTS: Final = 1_000
_MISCOUNTED: Final = 2  # frames: some encoders count the tag's own, or what they had begun
_RATES_HZ: Final = {3: (44_100, 48_000, 32_000), 2: (22_050, 24_000, 16_000), 0: (11_025, 12_000, 8_000)}
_LOW_KBPS: Final = (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0)
_KBPS: Final = {
    (True, 1): (0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448, 0),
    (True, 2): (0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 0),
    (True, 3): (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0),
    (False, 1): (0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256, 0),
    (False, 2): _LOW_KBPS,
    (False, 3): _LOW_KBPS,
}


def frames_of(file: BinaryIO, blamed: str) -> Spliced | None:
    """The frames of a file behind a tag that counts them, None where none is found that is known here.

    What tagging and joining left before, between and behind them is left out. Raises InvalidRequest, naming the field
    `blamed`: for a gap larger than joining leaves, for fewer frames than the tag tells, and where the rate or the number
    of channels changes.
    """
    octets = Octets(file)
    first = octets.behind_tags(0)
    if _Header.of(octets.number(first)) is None:
        first = _chain(octets, first) or 0
    header = _Header.of(octets.number(first))
    if header is None:
        return None
    walk = _Walk(octets, header, blamed)
    walk.go(first)
    tag = _Tag.of(octets.some(first, header.size), header)
    if tag is None:
        return Spliced(header.counting(walk.frames), file, walk.spans)
    frames = walk.frames - 1
    is_smooth = not walk.is_ragged and len(walk.spans) == 1
    if frames < tag.frames - (_MISCOUNTED if is_smooth else 0):
        raise InvalidRequest(
            blamed,
            f"The audio holds {header.seconds(frames):.2f} of the {header.seconds(tag.frames):.2f} seconds that it "
            "tells, so it is damaged or cut short; send the whole file, or save this part anew.",
        )
    if tag.is_xing and frames == tag.frames:
        return Spliced(b"", file, walk.spans)
    (_, end), *others = walk.spans
    return Spliced(header.counting(frames), file, [(first + header.size, end), *others])


@dataclass(frozen=True, slots=True)
class _Header:
    """What the four octets that begin a frame say; `size` is the frame's in bytes, `side` that of its side information."""

    word: int
    rate_hz: int
    samples: int
    size: int
    side: int

    @classmethod
    def of(cls, word: int) -> "_Header | None":
        """The header in 32 bits, None where it is none; frames of a free bitrate are not known."""
        version, layer = word >> 19 & 3, 4 - (word >> 17 & 3)
        if word >> 21 != 0x7FF or version == 1 or layer == 4 or word >> 10 & 3 == 3:
            return None
        is_full = version == 3
        rate_hz, kbps = _RATES_HZ[version][word >> 10 & 3], _KBPS[is_full, layer][word >> 12 & 15]
        if not kbps:
            return None
        samples = 384 if layer == 1 else 576 if layer == 3 and not is_full else 1152
        slot = 4 if layer == 1 else 1
        size = (samples * 125 * kbps // rate_hz // slot + (word >> 9 & 1)) * slot
        is_mono = word >> 6 & 3 == 3
        side = (17 if is_mono else 32) if is_full else (9 if is_mono else 17)
        return cls(word, rate_hz, samples, size, side)

    @property
    def kind(self) -> tuple[int, bool]:
        """What may not change within a file."""
        return self.word & _KIND, self.word >> 6 & 3 == 3

    @property
    def largest(self) -> int:
        """The most bytes that a frame of this kind has."""
        return max(made.size for index in range(1, 15) if (made := self._sized(index)))

    def seconds(self, frames: int) -> float:
        """How long so many of them last."""
        return frames * self.samples / self.rate_hz

    def counting(self, frames: int) -> bytes:
        """A silent frame that tells how many of this kind follow; nothing for layers I and II, which have no such."""
        if self.word >> 17 & 3 != 1:
            return b""
        tag = struct.pack(">4sII", b"Xing", 1, frames)
        sized = (self._sized(index) for index in range(1, 15))
        made = next(one for one in sized if one is not None and one.size >= 4 + one.side + len(tag))
        return (struct.pack(">I", made.word).ljust(4 + made.side, b"\0") + tag).ljust(made.size, b"\0")

    def _sized(self, index: int) -> "_Header | None":
        """One of this kind at the bitrate of an index, with neither checksum, padding nor joint stereo."""
        return _Header.of(self.word & 0xFFFF0DCF | 0x10000 | index << 12)


@dataclass(frozen=True, slots=True)
class _Tag:
    """What a first frame that holds no sound tells: how many others there are, -1 where it leaves that open."""

    frames: int
    is_xing: bool

    @classmethod
    def of(cls, frame: bytes, header: _Header) -> "_Tag | None":
        """The tag in a frame, None where it has none."""
        for place in (4 + header.side, 6 + header.side):  # a checksum may lie before it
            if frame[place : place + 4] in (b"Xing", b"Info"):
                flags, count = struct.unpack_from(">II", frame.ljust(place + 12, b"\0"), place + 4)
                return cls(count if flags & 1 else -1, is_xing=True)
        if frame[36:40] == b"VBRI":
            return cls(struct.unpack_from(">I", frame.ljust(54, b"\0"), 50)[0], is_xing=False)
        return None


@dataclass(slots=True)
class _Walk:
    """From frame to frame; owns what was found: spans (start, end) of whole frames and nothing else, and their number."""

    octets: Octets
    header: _Header  # of the first
    blamed: str
    spans: list[tuple[int, int]] = field(default_factory=list)
    frames: int = 0
    is_ragged: bool = False  # ends neither with a frame nor with a tag

    def go(self, first: int) -> None:
        """Walk to the end."""
        start: int | None = first
        while start is not None:
            end = self._run(start)
            if end > start:
                self.spans.append((start, end))
            start = None if self.is_ragged else self._onward(end)

    def _run(self, place: int) -> int:
        """Where the frames end that follow each other from a place on."""
        sizes: dict[int, int] = {}
        while word := self.octets.number(place):
            size = sizes.get(word >> 6)
            if size is None:
                header = _Header.of(word)
                size = sizes[word >> 6] = header.size if header and header.kind == self.header.kind else 0
            if not size:
                break
            if place + size > self.octets.size:
                self.is_ragged = True
                break
            place += size
            self.frames += 1
        return place

    def _onward(self, place: int) -> int | None:
        """Where frames go on behind something else, None where they do not."""
        behind = self.octets.behind_tags(place)
        start = _chain(self.octets, behind)
        header = None if start is None else _Header.of(self.octets.number(start))
        if start is None or header is None:
            self.is_ragged = behind < self.octets.size
            return None
        # What joining leaves: a part of a frame before the joint, and one behind it.
        if start - behind > 2 * self.header.largest or len(self.spans) > _MOST_JOINTS:
            raise InvalidRequest(
                self.blamed,
                f"The audio is damaged {self.header.seconds(self.frames):.2f} seconds from its start; send the whole "
                "file again.",
            )
        if header.kind != self.header.kind:
            raise InvalidRequest(
                self.blamed,
                f"The audio changes its sample rate or its channels {self.header.seconds(self.frames):.2f} seconds from "
                "its start; send its parts one by one.",
            )
        return start


def _chain(octets: Octets, place: int) -> int | None:
    """The first place from there on where several frames of one kind follow each other."""
    for tries, start in enumerate(octets.matches(_LIKELY, place)):
        if tries == _MOST_STARTS:
            return None
        first = _Header.of(octets.number(start))
        header, at = first, start
        for _ in range(_CHAIN - 1):
            at += 0 if header is None else header.size
            header = None if header is None else _Header.of(octets.number(at))
            if first is None or header is None or header.kind != first.kind:
                break
        else:
            return start
    return None
