import ctypes
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from engine.errors import DeviceError
from engine.yue2.machine import device
from engine.yue2.machine.device import (
    Memory,
    choose_device,
    device_name,
    give_back,
    memory_of,
    pin_numerics,
    settle,
    threads_of,
    turn_to,
)


@pytest.fixture
def cards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)


@pytest.fixture
def no_cards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)


@pytest.mark.parametrize(
    ("wish", "found"),
    [("auto", "cuda:0"), ("cuda", "cuda:0"), ("cuda:1", "cuda:1"), ("CPU ", "cpu")],
)
@pytest.mark.usefixtures("cards")
def test_a_wish_finds_its_device(wish: str, found: str) -> None:
    assert str(choose_device(wish)) == found


@pytest.mark.usefixtures("no_cards")
def test_auto_is_the_processor_where_there_is_no_card() -> None:
    assert choose_device("auto") == torch.device("cpu")


@pytest.mark.parametrize("wish", ["tpu", "cuda:", "cuda:-1", "cuda:x", "", "cpu:0"])
@pytest.mark.usefixtures("cards")
def test_an_unknown_word_is_refused_with_the_choices(wish: str) -> None:
    with pytest.raises(DeviceError, match="choose auto, cpu, cuda or cuda:N"):
        choose_device(wish)


@pytest.mark.usefixtures("cards")
def test_a_card_that_is_not_there_is_refused() -> None:
    with pytest.raises(DeviceError, match="no device cuda:2, only cuda:0 to cuda:1"):
        choose_device("cuda:2")


@pytest.mark.usefixtures("no_cards")
@pytest.mark.parametrize(
    ("built", "reason"), [(None, "built without CUDA"), ("13.0", "no driver or no card")]
)
def test_cuda_without_a_card_tells_why(
    monkeypatch: pytest.MonkeyPatch, built: str | None, reason: str
) -> None:
    monkeypatch.setattr(torch.version, "cuda", built)
    with pytest.raises(DeviceError, match=reason):
        choose_device("cuda")


def test_the_memory_of_a_card_counts_what_torch_keeps_for_later(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _: (10, 100))
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda _: 50)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda _: 30)
    assert memory_of(torch.device("cuda", 0)) == Memory(100, 30)


def test_the_memory_of_the_machine_is_there() -> None:
    memory = memory_of(torch.device("cpu"))
    assert 0 < memory.free_bytes <= memory.total_bytes


@pytest.mark.parametrize(
    ("limit", "expected"),
    [("max", Memory(8 * 2**20, 6 * 2**20)), (str(5 * 2**20), Memory(5 * 2**20, 4 * 2**20))],
)
def test_the_limit_of_a_control_group_counts(tmp_path: Path, limit: str, expected: Memory) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal:  8192 kB\nMemFree: 1 kB\nMemAvailable: 6144 kB\nHugePages_Total: 0\n")
    (tmp_path / "memory.max").write_text(f"{limit}\n")
    (tmp_path / "memory.current").write_text(f"{2**20}\n")
    assert device._machine_memory(meminfo, tmp_path) == expected


@pytest.mark.parametrize(
    ("stat", "free"),
    [("anon 5\ninactive_file 262144\nactive_file 7\n", 4.25), ("anon 5\n", 4), ("inactive_file x\n", 4)],
)
def test_pages_that_nobody_uses_are_not_needed(tmp_path: Path, stat: str, free: float) -> None:
    (tmp_path / "meminfo").write_text("MemTotal:  8192 kB\nMemAvailable: 6144 kB\n")
    (tmp_path / "memory.max").write_text(f"{5 * 2**20}\n")
    (tmp_path / "memory.current").write_text(f"{2**20}\n")
    (tmp_path / "memory.stat").write_text(stat)
    assert device._machine_memory(tmp_path / "meminfo", tmp_path) == Memory(5 * 2**20, int(free * 2**20))


def test_a_machine_without_proc_is_asked_for_its_pages(tmp_path: Path) -> None:
    memory = device._machine_memory(tmp_path / "none", tmp_path)
    assert memory.free_bytes == memory.total_bytes // 2 > 0


def test_a_processor_is_named_with_its_instructions_and_counts_threads() -> None:
    cpu = torch.device("cpu")
    assert torch.backends.cpu.get_cpu_capability() in device_name(cpu)
    assert (threads_of(cpu), threads_of(torch.device("cuda", 0))) == (torch.get_num_threads(), 0)


def test_numerics_are_those_of_the_reference() -> None:
    pin_numerics()
    matmul, cudnn = torch.backends.cuda.matmul, torch.backends.cudnn
    settings = [
        matmul.allow_tf32,
        matmul.allow_fp16_accumulation,
        matmul.allow_fp16_reduced_precision_reduction,
        matmul.allow_bf16_reduced_precision_reduction,
        cudnn.allow_tf32,
        cudnn.benchmark,
    ]
    assert not any(settings)
    assert cudnn.deterministic
    assert torch.get_float32_matmul_precision() == "highest"
    chosen: Callable[[], bool] = torch.backends.cuda.cudnn_sdp_enabled
    assert not chosen()


def test_a_thread_turns_to_its_card_and_to_no_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    turned: list[torch.device] = []
    monkeypatch.setattr(torch.cuda, "set_device", turned.append)
    turn_to(torch.device("cpu"))
    turn_to(torch.device("cuda", 1))
    assert turned == [torch.device("cuda", 1)]


def test_a_card_is_waited_for_and_gives_back_what_it_keeps(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    monkeypatch.setattr(torch.cuda, "synchronize", lambda card: done.append(f"settled {card}"))
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: done.append("given back"))
    settle(torch.device("cuda", 1))
    give_back(torch.device("cuda", 1))
    assert done == ["settled cuda:1", "given back"]


@pytest.mark.parametrize(("platform", "trimmed"), [("linux", [0]), ("darwin", [])])
def test_a_processor_gives_back_what_its_c_library_keeps(
    monkeypatch: pytest.MonkeyPatch, platform: str, trimmed: list[int]
) -> None:
    calls: list[int] = []
    library = SimpleNamespace(malloc_trim=calls.append)
    monkeypatch.setattr(ctypes, "CDLL", lambda _: library)
    monkeypatch.setattr(sys, "platform", platform)
    settle(torch.device("cpu"))
    give_back(torch.device("cpu"))
    assert calls == trimmed


def test_a_c_library_without_that_function_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []
    monkeypatch.setattr(ctypes, "CDLL", lambda name: asked.append(name))
    give_back(torch.device("cpu"))
    assert asked == [None]
