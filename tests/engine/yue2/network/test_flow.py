import pytest
import torch

from engine.control import Check, unchecked
from engine.errors import NumericalError
from engine.yue2.files.checkpoint import Checkpoint
from engine.yue2.files.config import ModelConfig
from engine.yue2.network.flow import noise, raw_times, solve
from engine.yue2.network.precision import Precision
from engine.yue2.vocabulary import CODEC_FIRST, MUSIC_END
from tests.engine.yue2.conftest import Golden
from tests.engine.yue2.halves import EXACT, Halves, StopAt, checks_of, error, halves_of, open_halves
from tests.engine.yue2.network.conftest import Arrays

AR_LENGTH = 155


def untold(_: int) -> None:
    """Progress that nobody hears of."""


@pytest.fixture(scope="module")
def halves(checkpoint: Checkpoint, model_config: ModelConfig, tokens: list[int]) -> Halves:
    opened = open_halves(checkpoint, model_config)
    opened.decoder.prefill(tokens, 0, 0, unchecked)
    return opened


@pytest.fixture(scope="module")
def start(arrays: Arrays) -> torch.Tensor:
    return torch.from_numpy(arrays["noise"]).unsqueeze(0)  # (1, 24, 64)


def solved(halves: Halves, start: torch.Tensor, steps: int, check: Check = unchecked) -> torch.Tensor:
    return solve(halves.acoustic, start, steps, 0, AR_LENGTH, check, untold)


def test_noise_is_the_reference_and_begins_the_same_however_long(golden: Golden, arrays: Arrays) -> None:
    assert error(noise(831001, 24, 64), arrays["noise"]) == 0
    assert error(noise(831001, 4, 64), golden.arrays("sampling")["randn_seed831001_4x64"]) == 0
    assert error(noise(1, 300, 64)[[0, -1]], arrays["long_noise_seed1_T300_first_last4"]) == 0
    assert torch.equal(noise(831001, 1_000, 64)[:24], noise(831001, 24, 64))


def test_times_run_from_noise_to_music(arrays: Arrays) -> None:
    for steps in (1, 2, 4, 32):
        assert raw_times(steps) == pytest.approx(arrays[f"raws_steps{steps}"], abs=1e-12)
    assert raw_times(1) == [20.0, 0.0]


@pytest.mark.parametrize("steps", [1, 2, 4, 32])
def test_the_solution_is_the_reference(
    halves: Halves, arrays: Arrays, start: torch.Tensor, steps: int
) -> None:
    told: list[int] = []
    latents = solve(halves.acoustic, start, steps, 0, AR_LENGTH, unchecked, told.append)
    assert error(latents[0], arrays[f"latent_steps{steps}"]) < EXACT
    assert told == list(range(1, steps + 1))


def test_chunks_of_a_song_are_the_reference(halves: Halves, arrays: Arrays) -> None:
    begin = noise(831001, 24, 64)
    prefix, codes = arrays["prefix"].tolist(), (arrays["codec"] + CODEC_FIRST).tolist()
    for first, last in arrays["multichunk_ranges"].tolist():
        chunk = [*prefix, *codes[first:last], MUSIC_END]
        halves.decoder.prefill(chunk, 1, 0, unchecked)
        latents = solve(halves.acoustic, begin[None, first:last], 2, 1, len(chunk), unchecked, untold)
        assert error(latents[0], arrays["multichunk_latent_steps2"][first:last]) < EXACT


def test_what_the_decoder_kept_may_be_continued(
    halves: Halves, tokens: list[int], start: torch.Tensor
) -> None:
    halves.decoder.prefill(tokens[:-2], 1, 0, unchecked)
    halves.decoder.prefill(tokens[-2:], 1, len(tokens) - 2, unchecked)
    continued = solve(halves.acoustic, start, 2, 1, AR_LENGTH, unchecked, untold)
    assert error(continued, solved(halves, start, 2)) < EXACT


def test_variations_are_as_each_alone(halves: Halves, start: torch.Tensor) -> None:
    several = torch.cat((start, noise(7, 24, 64).unsqueeze(0)))
    together = solved(halves, several, 2)
    for index in range(2):
        assert error(together[index : index + 1], solved(halves, several[index : index + 1], 2)) < EXACT


def test_the_state_may_be_float32_in_a_model_that_is_not(
    checkpoint: Checkpoint, model_config: ModelConfig, tokens: list[int], arrays: Arrays, start: torch.Tensor
) -> None:
    opened = halves_of(checkpoint, model_config, Precision("bf16", *(torch.bfloat16,) * 4))
    opened.decoder.prefill(tokens, 0, 0, unchecked)
    table = arrays["time_table_t_raw_f32_bf16"]
    found = [float(opened.acoustic.time_value(raw)) for raw in raw_times(32)]
    assert found == table[:, 3].tolist()
    rounded = solved(opened, start, 4)
    kept = solve(opened.acoustic, start, 4, 0, AR_LENGTH, unchecked, untold, torch.float32)
    assert rounded.dtype is kept.dtype is torch.float32
    assert error(kept[0], arrays["latent_steps4"]) < error(rounded[0], arrays["latent_steps4"]) < 0.2
    assert error(solved(opened, start, 32)[0], arrays["bf16_latent_steps32"]) < 0.4


def test_a_stop_leaves_nothing_broken(halves: Halves, start: torch.Tensor) -> None:
    def work(check: Check) -> torch.Tensor:
        return solved(halves, start, 2, check)

    expected = work(unchecked)
    for count in range(1, checks_of(work) + 1, 7):
        with pytest.raises(InterruptedError):
            work(StopAt(count))
        assert torch.equal(work(unchecked), expected)


def test_latents_that_are_no_numbers_are_refused(halves: Halves, start: torch.Tensor) -> None:
    with pytest.raises(NumericalError, match="no number"):
        solved(halves, start * torch.inf, 1)
