from typing import NoReturn

import pytest
import torch

from engine.errors import OutOfMemory
from engine.yue2.network.allocation import allocate, allocate_zeros

CPU = torch.device("cpu")
DTYPES = [torch.float32, torch.float16, torch.bfloat16, torch.int64]


@pytest.mark.parametrize("dtype", DTYPES)
def test_tensors_have_the_shape_and_dtype(dtype: torch.dtype) -> None:
    for make in (allocate, allocate_zeros):
        tensor = make((3, 0, 5), dtype, CPU)
        assert (tensor.shape, tensor.dtype, tensor.device) == ((3, 0, 5), dtype, CPU)
    zeros = allocate_zeros((7, 11), dtype, CPU)
    assert zeros.is_contiguous()
    assert not bool(zeros.any())
    written = allocate((7, 11), dtype, CPU).fill_(3)
    assert bool((written == 3).all())


@pytest.mark.parametrize("maker", ["empty", "zeros"])
def test_no_room_is_said(monkeypatch: pytest.MonkeyPatch, maker: str) -> None:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise MemoryError

    monkeypatch.setattr(f"engine.yue2.network.allocation.np.{maker}", refuse)
    make = {"empty": allocate, "zeros": allocate_zeros}[maker]
    with pytest.raises(OutOfMemory, match=r"no room for 2\.00 GiB more on cpu"):
        make((2**30,), torch.float16, CPU)


def test_no_room_on_another_device_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> NoReturn:
        raise torch.OutOfMemoryError

    monkeypatch.setattr("engine.yue2.network.allocation.torch.empty", refuse)
    with pytest.raises(OutOfMemory, match="on meta"):
        allocate((2,), torch.float16, torch.device("meta"))
