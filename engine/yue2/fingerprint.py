"""On what a track was made: the same decoded samples are promised where all of it is the same."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal

from engine.request import Scalar

Remaining = Literal["codes", "latents", "sound"]
"""What is to be made first: codes are drawn, or given ones become latents, or given latents become sound."""

_WEIGHTS: Mapping[str, str] = {"weights": "of the model", "vae": "of the audio codec"}
_WORDS: Mapping[str, str] = {
    "device": "device",
    "torch": "torch",
    "threads": "threads",
    "precision": "precision",
    "state": "state of the solver",
    "lm_batch": "songs drawn together",
    "synth_batch": "variations solved together",
    "tile_frames": "frames decoded together",
}
_MATTERS: Mapping[Remaining, frozenset[str]] = {
    "codes": frozenset(_WEIGHTS) | frozenset(_WORDS),
    "latents": (frozenset(_WEIGHTS) | frozenset(_WORDS)) - {"lm_batch"},
    "sound": frozenset(
        ("vae", "device", "torch", "threads", "tile_frames")
    ),  # the codec computes in float32 always
}
_FORMATS = frozenset(("precision", "state"))


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Device and torch by name, threads of the processor (0 where a CUDA device works), precision by name.

    `state` is the number format of the solver's state, `weights` and `vae` are the first digits of the sha256 of the
    model's and the codec's weights. `lm_batch` counts the songs that were drawn in lockstep, `synth_batch` the
    variations that were solved together, `tile_frames` the latent rows that were decoded at once.
    """

    device: str
    torch: str
    threads: int
    precision: str
    state: str
    weights: str
    vae: str
    lm_batch: int
    synth_batch: int
    tile_frames: int

    def to_json(self) -> dict[str, Scalar]:
        """As a replay carries it."""
        return asdict(self)


def difference(told: Mapping[str, Scalar] | None, here: Fingerprint, remaining: Remaining) -> tuple[str, ...]:
    """A sentence for a replay that was made otherwise than `here`; none where it has no fingerprint or the same one.

    Only what the remaining work depends on counts, so how many songs were drawn together where codes are to be drawn.
    With other weights nothing else is told, for then it is another sound. Entries that are missing or unknown are
    passed over.
    """
    ours, theirs = here.to_json(), told or {}
    differing = {
        name: f"{theirs[name]} there, {ours[name]} here"
        for name in ours
        if name in _MATTERS[remaining] and name in theirs and theirs[name] != ours[name]
    }
    others = [f"{words} {differing[name]}" for name, words in _WEIGHTS.items() if name in differing]
    if others:
        return (f"The replay was made with other weights ({'; '.join(others)}); it will sound different.",)
    if not differing:
        return ()
    listed = "; ".join(f"{_WORDS[name]} {values}" for name, values in differing.items())
    return (f"The replay was made otherwise ({listed}), so {_effect(differing, remaining)}.",)


def _effect(differing: Mapping[str, str], remaining: Remaining) -> str:
    if remaining == "codes":
        return "other codes may be drawn"
    if _FORMATS & differing.keys():
        return "the sound may differ a little from the first"
    return "the sound may differ from the first in its last bits"
