import json

import torch

from engine.yue2.description import description
from engine.yue2.files.config import ModelConfig, VaeConfig
from engine.yue2.machine.memory import Allowance, footprint
from engine.yue2.network.precision import choose


def test_sizes_agree_with_each_other(model_config: ModelConfig, vae_config: VaeConfig) -> None:
    precision = choose(torch.device("cpu"), "auto")
    sizes = footprint(model_config, vae_config, precision, 1)
    allowed = Allowance(True, 2, 1000, 1, 256)
    told = description("yue2", "A card", precision, sizes, allowed, model_config, vae_config)
    assert json.loads(json.dumps(told)) == told
    assert told["cache"] == {"tokens": 1000, "bytes_per_token": 192, "bytes": 192_000}
    assert told["parameters"] == {"decoder": 5_918_752, "acoustic": 407_936, "vae": 185_432}
    assert told["weights_bytes"] == {"decoder": 11_838_208, "acoustic": 829_632, "vae": 741_728}
    assert (told["songs_at_once"], told["guided_songs_at_once"]) == (2, 1)
    assert (told["licence"], told["residency"], told["precision"]) == ("CC BY-NC 4.0", "stage", "fp16")
    assert (told["operations"], told["unsupported_fields"]) == (["synth", "plan", "vae"], ["lora"])


def test_songs_at_once_are_counted_with_and_without_guidance(
    model_config: ModelConfig, vae_config: VaeConfig
) -> None:
    precision = choose(torch.device("cpu"), "fp32")
    sizes = footprint(model_config, vae_config, precision, 1)
    for allowed, counts in (
        (Allowance(False, 16, 1000, 9, 1024), (8, 8)),
        (Allowance(False, 5, 1000, 9, 1024), (5, 2)),
        (Allowance(False, 2, 1000, 1, 256, 1), (1, 1)),
    ):
        told = description("yue2", "A card", precision, sizes, allowed, model_config, vae_config)
        assert (told["songs_at_once"], told["guided_songs_at_once"]) == counts
