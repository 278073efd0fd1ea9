from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from engine.errors import DeviceError
from engine.yue2.chunks import Performance
from engine.yue2.files.config import ModelConfig, VaeConfig
from engine.yue2.machine.memory import Allowance
from engine.yue2.network.precision import choose
from engine.yue2.parts import Parts, Source
from engine.yue2.rendering import Renderer, state_dtype
from tests.engine.yue2.conftest import Golden
from tests.engine.yue2.songs import Watch

FULL = Allowance(False, 16, 24_576, 9, 1024)
ONE_BY_ONE = Allowance(True, 2, 24_576, 1, 1024)
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def parts(
    model_folder: Path,
    vae_folder: Path,
    model_config: ModelConfig,
    vae_config: VaeConfig,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Parts]:
    digest_file = tmp_path_factory.mktemp("digests") / "verified.json"
    precision = choose(CPU, "fp32")
    source = Source(model_folder, vae_folder, digest_file, model_config, vae_config, CPU, precision)
    loaded = Parts(source, FULL.positions)
    yield loaded
    loaded.release()


@pytest.fixture(scope="module")
def performance(golden: Golden) -> Performance:
    """The song of the reference outputs."""
    codes = tuple(int(code) for code in golden.arrays("nar")["codec"])
    return Performance(tuple(int(token) for token in golden.arrays("ar")["prefix"]), codes)


@pytest.mark.parametrize("allowed", [FULL, ONE_BY_ONE], ids=["kept", "staged"])
def test_chunks_are_put_end_to_end_as_in_the_reference(
    parts: Parts, performance: Performance, golden: Golden, allowed: Allowance
) -> None:
    arrays, watch = golden.arrays("nar"), Watch()
    renderer = Renderer(parts, int(arrays["multichunk_context"]), 64, torch.float32)
    (rendering,) = renderer.render([performance], range(831001, 831002), 2, allowed, watch)
    np.testing.assert_allclose(rendering.latents[0], arrays["multichunk_latent_steps2"], atol=2e-5)
    told = watch.fractions("acoustic")
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1.0)
    assert watch.reports[-1][2] == {"steps": 6, "of": 6}
    # Read ahead only where the other half would have to be loaded anew for each chunk.
    assert parts.decoder(Watch(), allowed, 0).decoder.cache.slots == (2 if allowed.staged else 1)


def test_variations_are_solved_in_groups_as_if_alone(parts: Parts, performance: Performance) -> None:
    renderer = Renderer(parts, 24_576, 64, torch.float32)
    allowed = Allowance(False, 16, 24_576, 2, 1024)
    (groups,) = renderer.render([performance], range(5, 8), 1, allowed, Watch())
    assert groups.together == 2
    for variation, seed in enumerate(range(5, 8)):
        (alone,) = renderer.render([performance], range(seed, seed + 1), 1, FULL, Watch())
        assert alone.together == 1
        np.testing.assert_allclose(groups.latents[variation], alone.latents[0], atol=2e-5)


def test_songs_do_not_depend_on_each_other(parts: Parts, performance: Performance) -> None:
    other = Performance(performance.prefix[:9], performance.codes[:5])
    renderer, seeds = Renderer(parts, 24_576, 64, torch.float32), range(1, 2)
    both = renderer.render([other, performance], seeds, 1, ONE_BY_ONE, Watch())
    alone = [renderer.render([song], seeds, 1, FULL, Watch())[0] for song in (other, performance)]
    for one, same in zip(both, alone, strict=True):
        assert torch.equal(one.latents, same.latents)


def test_the_solver_s_state_is_that_of_the_stream_unless_wished_otherwise() -> None:
    stream = replace(choose(CPU, "fp32"), residual=torch.bfloat16)
    assert (state_dtype("auto", stream), state_dtype("fp32", stream)) == (torch.bfloat16, torch.float32)
    with pytest.raises(DeviceError, match="no flow state 'fp64'; set it to one of: auto, fp32"):
        state_dtype("fp64", stream)


def test_the_solver_s_state_is_the_one_that_was_asked_for(parts: Parts, performance: Performance) -> None:
    made = [
        Renderer(parts, 24_576, 64, state).render([performance], range(1, 2), 2, FULL, Watch())[0].latents
        for state in (torch.float32, torch.bfloat16)
    ]
    assert torch.equal(made[1], made[1].to(torch.bfloat16).float())
    assert not torch.equal(made[0], made[1])
    np.testing.assert_allclose(made[0], made[1], atol=0.1)
