import math
from collections.abc import Iterable, Mapping

from safetensors import safe_open

from engine.yue2.files.config import ModelConfig, VaeConfig
from engine.yue2.files.tensors import (
    BYTES_OF,
    TensorSpec,
    acoustic_names,
    decoder_names,
    model_tensors,
    vae_tensors,
)
from tests.engine.yue2.conftest import DATA

RELEASED = ModelConfig(2_048, 28, 16, 8, 128, 6_144, 184_704, 1e-6, 1e6, 24_576, 64, 24_576, 1.0)
RELEASED_VAE = VaeConfig(
    64, (1, 2, 4, 8, 16, 32), (2, 2, 4, 4, 5, 6), 64, 128, 48_000, 1_920, 2, 1_024, 16, "standard"
)


def values(specs: Mapping[str, TensorSpec], names: Iterable[str]) -> int:
    return sum(math.prod(specs[name].shape) for name in names)


def size_bytes(specs: Mapping[str, TensorSpec]) -> int:
    return sum(math.prod(spec.shape) * BYTES_OF[spec.dtype] for spec in specs.values())


def header_bytes(specs: Mapping[str, TensorSpec], metadata: str) -> int:
    """Length of the header that the format's own writer gives these tensors, padded to eight bytes."""
    begin, entries = 0, [metadata] if metadata else []
    for name, spec in specs.items():
        end = begin + math.prod(spec.shape) * BYTES_OF[spec.dtype]
        shape = ",".join(map(str, spec.shape))
        entries.append(
            f'"{name}":{{"dtype":"{spec.dtype}","shape":[{shape}],"data_offsets":[{begin},{end}]}}'
        )
        begin = end
    length = len("{" + ",".join(entries) + "}")
    return length + -length % 8


def test_the_released_model_has_the_published_tensors() -> None:
    specs = model_tensors(RELEASED)
    decoder, acoustic = decoder_names(RELEASED), acoustic_names(RELEASED)
    assert (len(specs), len(decoder), len(acoustic)) == (628, 311, 317)
    assert values(specs, specs) == 3_630_684_224
    assert values(specs, decoder) == 2_165_957_632
    assert values(specs, acoustic) == 1_464_726_592
    assert {*decoder, *acoustic} == set(specs)
    assert {spec.dtype for spec in specs.values()} == {"BF16"}


def test_the_released_files_have_the_published_sizes() -> None:
    model, vae = model_tensors(RELEASED), vae_tensors(RELEASED_VAE)
    assert 8 + header_bytes(model, "") + size_bytes(model) == 7_261_441_640
    assert 8 + header_bytes(vae, '"__metadata__":{"format":"pt"}') + size_bytes(vae) == 530_512_720


def test_the_released_vae_has_the_published_tensors() -> None:
    specs = vae_tensors(RELEASED_VAE)
    assert len(specs) == 435
    assert sum(name.startswith("decoder.") for name in specs) == 217
    assert {spec.dtype for spec in specs.values()} == {"F32"}
    assert specs["decoder.layers.1.layers.1.weight_v"].shape == (2_048, 1_024, 12)
    assert specs["decoder.layers.1.layers.1.weight_g"].shape == (2_048, 1, 1)
    assert "decoder.layers.8.bias" not in specs


def test_the_tables_are_those_of_the_tiny_files(model_config: ModelConfig, vae_config: VaeConfig) -> None:
    for folder, specs in (
        ("YuE2-3B-tiny", model_tensors(model_config)),
        ("YuE2-Vae-tiny", vae_tensors(vae_config)),
    ):
        with safe_open(DATA / folder / "model.safetensors", framework="pt") as file:
            assert set(file.keys()) == set(specs)
            slices = {name: file.get_slice(name) for name in specs}
            held = {
                name: TensorSpec(tuple(part.get_shape()), part.get_dtype()) for name, part in slices.items()
            }
        assert held == specs
