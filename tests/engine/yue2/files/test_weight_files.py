import json
from pathlib import Path

import pytest

from engine.errors import CheckpointError
from engine.yue2.files.weight_files import safetensors_files, weight_files, weight_map

SHARDS = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")


def folder_of(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).write_bytes(b"")
    return folder


def test_one_file_or_all_shards_hold_the_weights(tmp_path: Path) -> None:
    folder_of(tmp_path, "model.safetensors", "config.json", "._model.safetensors")
    assert weight_files(tmp_path) == ("model.safetensors",)
    assert safetensors_files(tmp_path) == ("model.safetensors",)
    shards = tmp_path / "shards"
    shards.mkdir()
    assert weight_files(folder_of(shards, *SHARDS)) == SHARDS


@pytest.mark.parametrize(
    ("names", "fault"),
    [
        ((), r"model\.safetensors is missing"),
        (("model.safetensors", "vae.safetensors"), r"1 file beside model\.safetensors \(vae\.safetensors\)"),
        (("model.safetensors", *SHARDS), r"2 files beside model\.safetensors"),
        (("vae.safetensors",), r"1 file that are neither the model nor a shard of it \(vae\.safetensors\)"),
        ((*SHARDS, "vae.safetensors"), r"neither the model nor a shard of it \(vae\.safetensors\)"),
        (SHARDS[:1], r"1 shard missing \(model-00002-of-00002\.safetensors\)"),
        (
            (*SHARDS, "model-00003-of-00003.safetensors"),
            r"1 shard too many \(model-00003-of-00003\.safetensors\)",
        ),
        (("model-00000-of-00000.safetensors",), r"1 shard too many"),
    ],
)
def test_files_that_do_not_belong_together_are_refused(
    tmp_path: Path, names: tuple[str, ...], fault: str
) -> None:
    with pytest.raises(CheckpointError, match=fault) as refused:
        weight_files(folder_of(tmp_path, *names))
    assert str(tmp_path) in str(refused.value)
    assert "yue2-studio pull" in str(refused.value)


def test_what_is_no_folder_is_refused(tmp_path: Path) -> None:
    for folder in (tmp_path / "absent", folder_of(tmp_path, "file") / "file"):
        with pytest.raises(CheckpointError, match="it is no folder"):
            weight_files(folder)


def test_the_index_names_the_tensors_of_each_shard(tmp_path: Path) -> None:
    index = {"metadata": {"total_size": 3}, "weight_map": {"a": SHARDS[1], "b": SHARDS[0], "c": SHARDS[1]}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    assert weight_map(tmp_path, SHARDS) == {SHARDS[0]: {"b"}, SHARDS[1]: {"a", "c"}}


@pytest.mark.parametrize("file", ["../model.safetensors", "model-00003-of-00003.safetensors", 3, None])
def test_an_index_that_names_other_files_is_refused(tmp_path: Path, file: object) -> None:
    index = {"weight_map": {"a": file}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    with pytest.raises(CheckpointError, match=r"index\.json puts a into a file that is not there"):
        weight_map(tmp_path, SHARDS)


def test_shards_need_their_index(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"model\.safetensors\.index\.json is missing"):
        weight_map(tmp_path, SHARDS)
