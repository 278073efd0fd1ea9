import pytest
import torch

from engine.errors import DeviceError
from engine.yue2.network.precision import Precision, choose, overflow

CPU, CUDA = torch.device("cpu"), torch.device("cuda", 0)
FP32, FP16, BF16 = torch.float32, torch.float16, torch.bfloat16


@pytest.fixture
def capability(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The compute capability of a device that is not there."""
    version = [9, 0]
    monkeypatch.setattr("torch.cuda.get_device_capability", lambda device: tuple(version))
    return version


@pytest.mark.parametrize(
    ("wish", "expected"),
    [
        ("auto", Precision("fp16", FP16, BF16, BF16, FP32)),
        ("fp16", Precision("fp16", FP16, BF16, BF16, FP32)),
        ("bf16", Precision("bf16", BF16, BF16, BF16, FP32)),
        ("fp32", Precision("fp32", FP32, FP32, FP32, FP32)),
    ],
)
def test_a_processor_mixes_formats(wish: str, expected: Precision) -> None:
    assert choose(CPU, wish) == expected


@pytest.mark.parametrize(
    ("major", "wish", "expected"),
    [
        (9, "auto", Precision("bf16", BF16, BF16, BF16, BF16)),
        (8, "bf16", Precision("bf16", BF16, BF16, BF16, BF16)),
        (9, "fp16", Precision("fp16", FP16, FP16, FP16, FP32)),
        (7, "auto", Precision("fp16", FP16, FP16, FP16, FP32)),
        (7, "fp32", Precision("fp32", FP32, FP32, FP32, FP32)),
    ],
)
def test_a_card_has_bfloat16_or_float16(
    capability: list[int], major: int, wish: str, expected: Precision
) -> None:
    capability[0] = major
    assert choose(CUDA, wish) == expected


def test_what_cannot_be_is_refused(capability: list[int]) -> None:
    capability[0] = 7
    with pytest.raises(DeviceError, match="cannot compute in bfloat16"):
        choose(CUDA, "bf16")
    with pytest.raises(DeviceError, match="no precision 'int8'"):
        choose(CPU, "int8")
    with pytest.raises(DeviceError, match="choose cpu or cuda"):
        choose(torch.device("meta"), "auto")


def test_the_advice_is_a_wider_format() -> None:
    assert overflow(choose(CPU, "bf16")).endswith("set YUE2_PRECISION to fp32.")
    assert "pull the model again" in overflow(choose(CPU, "fp32"))
