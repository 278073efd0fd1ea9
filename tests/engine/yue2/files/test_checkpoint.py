import errno
import json
import mmap
import os
from collections.abc import Mapping
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from engine.errors import CheckpointError, OutOfMemory
from engine.yue2.files.checkpoint import Checkpoint, check_folder
from engine.yue2.files.tensors import TensorSpec

EXPECTED = {"a": TensorSpec((2, 3), "BF16"), "b": TensorSpec((4,), "F32"), "c": TensorSpec((1, 1), "F32")}
SHARDS = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")


def tensors() -> dict[str, torch.Tensor]:
    return {
        "a": torch.arange(6, dtype=torch.bfloat16).view(2, 3),
        "b": torch.arange(4, dtype=torch.float32),
        "c": torch.ones(1, 1),
    }


def single(folder: Path, held: Mapping[str, torch.Tensor]) -> Path:
    save_file(dict(held), folder / "model.safetensors")
    return folder


def sharded(folder: Path) -> Path:
    """`a` in the first shard, the others in the second."""
    held = tensors()
    save_file({"a": held.pop("a")}, folder / SHARDS[0])
    save_file(held, folder / SHARDS[1])
    index(folder, {"a": SHARDS[0], "b": SHARDS[1], "c": SHARDS[1]})
    return folder


def index(folder: Path, weight_map: object) -> None:
    (folder / "model.safetensors.index.json").write_text(
        json.dumps({"metadata": {}, "weight_map": weight_map}), encoding="utf-8"
    )


def mappings(path: Path) -> list[range]:
    """Addresses at which this process has the file mapped (Linux: proc(5), /proc/pid/maps)."""
    lines = Path("/proc/self/maps").read_text(encoding="utf-8").splitlines()
    spans = [line.split()[0].split("-") for line in lines if line.endswith(str(path))]
    return [range(int(first, 16), int(last, 16)) for first, last in spans]


def test_every_tensor_is_as_the_formats_own_reader_has_it(
    model_folder: Path, checkpoint: Checkpoint, vae_folder: Path, vae_checkpoint: Checkpoint
) -> None:
    for folder, opened in ((model_folder, checkpoint), (vae_folder, vae_checkpoint)):
        held = load_file(folder / "model.safetensors")
        for name, wanted in held.items():
            got = opened.tensor(name)
            assert got.dtype == wanted.dtype
            assert torch.equal(got, wanted)
        assert opened.size_bytes == sum(wanted.nbytes for wanted in held.values())


def test_tensors_are_pages_of_the_file_until_the_last_view_goes(tmp_path: Path) -> None:
    folder = single(tmp_path, tensors())
    path = folder / "model.safetensors"
    with Checkpoint(folder, EXPECTED) as opened:
        assert mappings(path) == []
        held = opened.tensor("b")
        assert any(held.data_ptr() in span for span in mappings(path))
    view = held[2:]
    del held
    assert view.tolist() == [2.0, 3.0]
    assert len(mappings(path)) == 1
    del view
    assert mappings(path) == []


def test_writing_to_a_tensor_leaves_the_file_alone(tmp_path: Path) -> None:
    with Checkpoint(single(tmp_path, tensors()), EXPECTED) as opened:
        opened.tensor("b").fill_(7)
        assert opened.tensor("b").tolist() == [0, 1, 2, 3]


def test_a_closed_checkpoint_gives_no_tensors(tmp_path: Path) -> None:
    opened = Checkpoint(single(tmp_path, tensors()), EXPECTED)
    opened.close()
    opened.close()
    with pytest.raises(ValueError, match="closed"):
        opened.tensor("a")


def test_shards_are_one_set_of_tensors(tmp_path: Path) -> None:
    with Checkpoint(sharded(tmp_path), EXPECTED) as opened:
        for name, wanted in tensors().items():
            assert torch.equal(opened.tensor(name), wanted)
        assert opened.size_bytes == 12 + 16 + 4
    assert check_folder(tmp_path, EXPECTED) == 32


def test_tensors_that_are_not_aligned_are_read_all_the_same(tmp_path: Path) -> None:
    entries = {"u": ("U8", [1], 0, 1), "b": ("F32", [2], 1, 9)}
    header = json.dumps(
        {name: {"dtype": d, "shape": s, "data_offsets": [x, y]} for name, (d, s, x, y) in entries.items()}
    ).encode()
    body = b"\1" + torch.tensor([1.5, -2.0]).numpy().tobytes()
    (tmp_path / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header + body)
    with Checkpoint(tmp_path, {"u": TensorSpec((1,), "U8"), "b": TensorSpec((2,), "F32")}) as opened:
        assert opened.tensor("b").tolist() == [1.5, -2.0]


def test_everything_that_differs_is_listed(tmp_path: Path) -> None:
    held = tensors() | {"b": torch.zeros(5), "c": torch.zeros(1, 1, dtype=torch.float16), "z": torch.zeros(1)}
    del held["a"]
    with pytest.raises(CheckpointError) as refused:
        Checkpoint(single(tmp_path, held), EXPECTED)
    assert str(refused.value) == (
        f"The checkpoint in {tmp_path} cannot be used: 1 tensor missing (a), 1 tensor too many (z), "
        "2 tensors of another shape or dtype (b is F32 [5] instead of F32 [4], c is F16 [1, 1] instead of "
        f"F32 [1, 1]). Fetch it with `yue2-studio pull --into {tmp_path.parent}`, or name another folder."
    )


def test_of_many_differences_eight_are_named(tmp_path: Path) -> None:
    wanted = EXPECTED | {f"w{number:02}": TensorSpec((1,), "F32") for number in range(20)}
    with pytest.raises(CheckpointError, match=r"20 tensors missing \(w00, .*, w07 and 12 more\)\. Fetch"):
        check_folder(single(tmp_path, tensors()), wanted)


@pytest.mark.parametrize("length", [0, 4, 20, -1])
def test_a_file_that_was_cut_short_is_refused(tmp_path: Path, length: int) -> None:
    path = single(tmp_path, tensors()) / "model.safetensors"
    raw = path.read_bytes()
    path.write_bytes(raw[:length])
    with pytest.raises(CheckpointError, match=r"model\.safetensors is damaged: it .*Fetch it with"):
        check_folder(tmp_path, EXPECTED)


def test_a_file_that_is_cut_short_while_open_is_refused(tmp_path: Path) -> None:
    path = single(tmp_path, tensors()) / "model.safetensors"
    with Checkpoint(tmp_path, EXPECTED) as opened:
        with path.open("r+b") as stream:
            stream.truncate(16)
        with pytest.raises(CheckpointError, match="the file with a was cut short while in use"):
            opened.tensor("a")


@pytest.mark.parametrize(
    "weight_map",
    [
        {"a": SHARDS[0], "b": SHARDS[0], "c": SHARDS[1]},
        {"a": SHARDS[0], "b": SHARDS[1]},
        {"a": SHARDS[0], "b": SHARDS[1], "c": SHARDS[1], "d": SHARDS[1]},
    ],
)
def test_an_index_that_disagrees_with_its_shards_is_refused(tmp_path: Path, weight_map: object) -> None:
    index(sharded(tmp_path), weight_map)
    with pytest.raises(CheckpointError, match=r"index\.json and model-0000\d-of-00002\.safetensors disagree"):
        check_folder(tmp_path, EXPECTED)


def test_an_index_beside_the_single_file_must_agree_too(tmp_path: Path) -> None:
    single(tmp_path, tensors())
    index(tmp_path, dict.fromkeys(EXPECTED, "model.safetensors"))
    assert check_folder(tmp_path, EXPECTED) == 32
    index(tmp_path, {"a": "model.safetensors"})
    with pytest.raises(CheckpointError, match=r"index\.json and model\.safetensors disagree"):
        check_folder(tmp_path, EXPECTED)


def test_a_folder_in_the_files_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model.safetensors").mkdir()
    with pytest.raises(CheckpointError, match=r"model\.safetensors in it cannot be read \(Is a directory\)"):
        check_folder(tmp_path, EXPECTED)


@pytest.mark.parametrize("name", ["model.safetensors", "model.safetensors.index.json"])
def test_a_pipe_in_a_files_place_is_refused_unread(tmp_path: Path, name: str) -> None:
    if name != "model.safetensors":
        single(tmp_path, tensors())
    os.mkfifo(tmp_path / name)
    with pytest.raises(CheckpointError, match=rf"{name} in it cannot be read \(it is no regular file\)"):
        check_folder(tmp_path, EXPECTED)


@pytest.mark.parametrize(("number", "kind"), [(errno.ENOMEM, OutOfMemory), (errno.EACCES, CheckpointError)])
def test_no_room_to_map_a_tensor_is_a_lack_of_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, kind: type[Exception]
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    with Checkpoint(single(tmp_path, tensors()), EXPECTED) as opened:
        monkeypatch.setattr(mmap, "mmap", refuse)
        with pytest.raises(kind):
            opened.tensor("a")


def test_names_are_shown_without_what_a_terminal_would_obey(tmp_path: Path) -> None:
    held = tensors() | {"e\x1b[2J\u202e\u00e9": torch.zeros(1)}
    with pytest.raises(CheckpointError, match=r"1 tensor too many \(e\\x1b\[2J\\u202e\u00e9\)"):
        check_folder(single(tmp_path, held), EXPECTED)
