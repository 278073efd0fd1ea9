"""The command line, and which sizes have bars."""

import pytest

from bench.engine.options import BAR_SIZE, CPU, CPU_BARS, CUDA_BARS, REAL_SIZE, Bars, read_options


def test_defaults_are_the_size_of_the_bars() -> None:
    assert read_options([]) == CPU
    assert CPU.size == BAR_SIZE
    assert CPU.bars == CPU_BARS


def test_the_real_size_on_a_gpu() -> None:
    options = read_options(["--full", "--device", "cuda:1"])
    assert (options.size, options.bars, options.song_seconds) == (REAL_SIZE, CUDA_BARS, 180.0)
    assert options.on_cuda


@pytest.mark.parametrize("words", [["--layers", "1"], ["--full"], ["--device", "cuda"]])
def test_other_sizes_have_no_bars(words: list[str]) -> None:
    assert read_options(words).bars == Bars()


def test_everything_can_be_said() -> None:
    words = ["--kv-heads", "2", "--frames", "9", "--prefills", "3,4", "--song-seconds", "0.1", "--check"]
    options = read_options(words)
    assert options.size.kv_heads == 2
    assert (options.frames, options.prefills, options.song_frames, options.check) == (9, (3, 4), 2, True)
