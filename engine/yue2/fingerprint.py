"""On what a track was made: the same decoded samples are promised where all of it is the same."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass

from engine.request import Scalar

_MADE_OF_DRAWS = ("lm_batch",)
_WORDS = {
    "device": "device",
    "torch": "torch",
    "threads": "threads",
    "precision": "precision",
    "lm_batch": "songs drawn together",
    "synth_batch": "variations solved together",
}


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """Device and torch by name, threads of the processor (0 where a CUDA device works), precision by name.

    `lm_batch` counts the songs that were drawn in lockstep, `synth_batch` the variations that were solved together.
    """

    device: str
    torch: str
    threads: int
    precision: str
    lm_batch: int
    synth_batch: int

    def to_json(self) -> dict[str, Scalar]:
        """As a replay carries it."""
        return asdict(self)


def difference(told: Mapping[str, Scalar] | None, here: Fingerprint, *, draws: bool) -> tuple[str, ...]:
    """A sentence for a replay that was made otherwise than `here`; none where it has no fingerprint or the same one.

    `draws` tells whether codes are still to be drawn: only then does it matter how many songs were drawn together.
    Entries that are missing or unknown are passed over.
    """
    ours = here.to_json()
    differing = [
        f"{_WORDS[name]} {told[name]} there, {ours[name]} here"
        for name in ours
        if told is not None and name in told and told[name] != ours[name]
        if draws or name not in _MADE_OF_DRAWS
    ]
    if not differing:
        return ()
    effect = "other codes may be drawn" if draws else "the sound may differ from the first in its last bits"
    return (f"The replay was made otherwise ({'; '.join(differing)}), so {effect}.",)
