"""The reference's runs of the decoding loop, and the loop with as little said as possible."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.control import Check, unchecked
from engine.sampling_request import Sampling
from engine.yue2.decoding.graphs import Graphs
from engine.yue2.decoding.lockstep import decode
from engine.yue2.decoding.takes import Decoded, SongPrompt
from engine.yue2.network.backbone import Decoder
from engine.yue2.vocabulary import SCORE_ROWS, SEMANTIC_ROWS, TokenRows
from tests.engine.yue2.conftest import Golden
from tests.engine.yue2.plain_sampling import sampling_of

RUNS = (
    "abc_greedy",
    "abc_sampled_seed831001",
    "semantic_greedy",
    "semantic_sampled_seed831001",
    "semantic_sampled_seed42",
    "semantic_cfg2_greedy",
    "semantic_cfg2_sampled",
    "off_cfg1.01_legacy_sampled",
    "off_cfg1.01_legacy_greedy",
)
SLOTS = 6
CAPACITY = 256


@dataclass(frozen=True, slots=True)
class Run:
    """One stage of some songs."""

    songs: tuple[SongPrompt, ...]
    rows: TokenRows
    sampling: Sampling
    guidance: float = 1.0
    legacy: bool = False

    def shorter(self, most: int) -> "Run":
        """The same with a smaller budget."""
        return replace(self, sampling=self.sampling.model_copy(update={"max_tokens": most}))

    def of(self, *songs: SongPrompt) -> "Run":
        """The same for other songs."""
        return replace(self, songs=songs)

    def decode(
        self,
        decoder: Decoder,
        check: Check = unchecked,
        heard: list[int] | None = None,
        graphs: Graphs | None = None,
    ) -> list[Decoded]:
        """Draw the songs; `heard` takes what progress tells."""
        told: list[int] = [] if heard is None else heard
        return decode(
            decoder,
            self.songs,
            self.rows,
            self.sampling,
            guidance=self.guidance,
            legacy=self.legacy,
            check=check,
            progress=told.append,
            graphs=graphs,
        )


def reference_run(golden: Golden, name: str) -> Run:
    """A run of generate.npz."""
    stage, temperature = name.split("_")[0], 0.0 if name.endswith("greedy") else 1.0
    seed = 42 if name.endswith("seed42") else 831_001
    cot = "off" if stage == "off" else "full"
    prompt = next(case for case in golden.cases("prompt_cases")["cases"] if case["cot"] == cot)
    negative = tuple(prompt["negative_prefix"])
    if stage == "abc":
        sampling = sampling_of(0.7 * temperature, 0.9, 30, 1.005, 100, 4, 24)
        return Run((SongPrompt(tuple(prompt["open_prefix"]), (), (), seed),), SCORE_ROWS, sampling)
    sampling = sampling_of(temperature, 0.95, 100, 1.2, 50, 8, 32)
    guidance = 1.01 if stage == "off" else 2.0 if "cfg2" in name else 1.0
    song = SongPrompt(tuple(prompt["semantic_prefix"]), negative, (), seed)
    return Run((song,), SEMANTIC_ROWS, sampling, guidance, legacy=stage == "off")


def tokens_of(decoded: Sequence[Decoded]) -> list[tuple[int, ...]]:
    return [song.tokens for song in decoded]
