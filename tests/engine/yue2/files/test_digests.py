import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.control import unchecked
from engine.errors import CheckpointError
from engine.yue2.files.digests import (
    SLICE_BYTES,
    Promise,
    Verification,
    check_manifest,
    read_manifest,
    short_digest,
    verify_weights,
)

SHARDS = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")


def untold(_: float) -> None:
    """Progress of which nobody hears."""


def folder_of(folder: Path, *bodies: bytes) -> Path:
    """A folder with so many weights files and their manifest."""
    names = SHARDS if len(bodies) > 1 else ("model.safetensors",)
    folder.mkdir(exist_ok=True)
    files = {}
    for name, body in zip(names, bodies, strict=False):
        (folder / name).write_bytes(body)
        files[name] = {"bytes": len(body), "sha256": hashlib.sha256(body).hexdigest()}
    manifest(folder, {"schema": 1, "files": files})
    return folder


def manifest(folder: Path, values: object) -> None:
    (folder / "weights_manifest.json").write_text(json.dumps(values), encoding="utf-8")


def slices_read(folder: Path, remembered_in: Path) -> int:
    """How many fractions a verification told."""
    told: list[float] = []
    verify_weights(folder, remembered_in, unchecked, told.append)
    return len(told)


@pytest.fixture
def memory(tmp_path: Path) -> Path:
    return tmp_path / "state" / "digests.json"


def test_the_tiny_checkpoints_are_what_their_manifests_promise(
    model_folder: Path, vae_folder: Path, memory: Path
) -> None:
    digests = verify_weights(model_folder, memory, unchecked, untold)
    assert digests == {"model.safetensors": read_manifest(model_folder)["model.safetensors"].sha256}
    verify_weights(vae_folder, memory, unchecked, untold)
    assert slices_read(model_folder, memory) == slices_read(vae_folder, memory) == 0


def test_progress_and_checks_come_with_every_slice(tmp_path: Path, memory: Path) -> None:
    folder = folder_of(tmp_path / "m", bytes(2 * SLICE_BYTES), b"x" * SLICE_BYTES + b"y")
    told: list[float] = []
    checks: list[int] = []
    digests = verify_weights(folder, memory, lambda: checks.append(len(told)), told.append)
    assert set(digests) == set(SHARDS)
    assert told == sorted(told)
    assert len(told) == 4
    assert told[-1] == 1.0
    assert set(checks) == {0, 1, 2, 3, 4}


def test_a_check_that_raises_stops_and_leaves_nothing_behind(tmp_path: Path, memory: Path) -> None:
    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        verify_weights(folder_of(tmp_path / "m", b"abc"), memory, stop, untold)
    assert not memory.exists()


def touch(path: Path) -> None:
    os.utime(path, ns=(0, 12_345))


def replace_it(path: Path) -> None:
    path.replace(path.with_name("old"))
    path.write_bytes(b"abc")


def replace_it_with_its_time(path: Path) -> None:
    replace_it(path)
    os.utime(path, ns=(0, 99))


def write_with_its_time(path: Path) -> None:
    path.write_bytes(b"abc")
    os.utime(path, ns=(0, 99))


@pytest.mark.parametrize(
    "change",
    [touch, replace_it, replace_it_with_its_time, write_with_its_time],
)
def test_a_file_that_changed_is_read_again(
    tmp_path: Path, memory: Path, change: Callable[[Path], object]
) -> None:
    folder = folder_of(tmp_path / "m", b"abc")
    os.utime(folder / "model.safetensors", ns=(0, 99))
    assert slices_read(folder, memory) == 1
    assert slices_read(folder, memory) == 0
    change(folder / "model.safetensors")
    assert slices_read(folder, memory) == 1
    assert slices_read(folder, memory) == 0


def test_a_remembered_digest_is_held_against_the_manifest_of_now(tmp_path: Path, memory: Path) -> None:
    folder = folder_of(tmp_path / "m", b"abc")
    verify_weights(folder, memory, unchecked, untold)
    other = hashlib.sha256(b"abd").hexdigest()
    manifest(folder, {"schema": 1, "files": {"model.safetensors": {"bytes": 3, "sha256": other}}})
    with pytest.raises(
        CheckpointError, match=r"the sha256 of model\.safetensors is not the one in weights_man"
    ):
        verify_weights(folder, memory, unchecked, untold)


def test_damaged_weights_are_refused_by_name_every_time(tmp_path: Path, memory: Path) -> None:
    folder = folder_of(tmp_path / "m", b"abc", b"def")
    (folder / SHARDS[1]).write_bytes(b"dex")
    for _ in range(2):
        with pytest.raises(CheckpointError, match=rf"the sha256 of {SHARDS[1]} is not .*yue2-studio pull"):
            verify_weights(folder, memory, unchecked, untold)


def test_weights_of_another_size_are_refused_unread(tmp_path: Path, memory: Path) -> None:
    folder = folder_of(tmp_path / "m", b"abc")
    (folder / "model.safetensors").write_bytes(b"abcd")
    with pytest.raises(
        CheckpointError, match=r"model\.safetensors has 4 bytes, and weights_manifest\.json says 3"
    ):
        verify_weights(folder, memory, unchecked, untold)


def test_weights_that_are_written_to_meanwhile_are_refused(tmp_path: Path, memory: Path) -> None:
    folder = folder_of(tmp_path / "m", b"abc")

    def write(_: float) -> None:
        os.utime(folder / "model.safetensors", ns=(0, 7))

    with pytest.raises(CheckpointError, match=r"model\.safetensors was written to while it was verified"):
        verify_weights(folder, memory, unchecked, write)


@pytest.mark.parametrize("raw", [b"", b"{", b'{"/x": 3}', b'{"/x": {"bytes": 1}}', b"[]"])
def test_a_damaged_memory_is_as_none(tmp_path: Path, raw: bytes) -> None:
    folder, memory = folder_of(tmp_path / "m", b"abc"), tmp_path / "digests.json"
    memory.write_bytes(raw)
    assert slices_read(folder, memory) == 1
    assert slices_read(folder, memory) == 0


def test_a_memory_that_cannot_be_written_is_done_without(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "m", b"abc")
    (tmp_path / "file").write_bytes(b"")
    assert slices_read(folder, tmp_path / "file" / "digests.json") == 1
    (tmp_path / "held").mkdir()
    assert slices_read(folder, tmp_path / "held") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "held", "m"]


def test_a_process_needs_no_file_to_remember_what_it_verified(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "m", b"abc")
    (tmp_path / "held").mkdir()
    verification, told = Verification(tmp_path / "held"), list[float]()
    first = verification.verify(folder, unchecked, told.append)
    assert verification.verify(folder, unchecked, told.append) == first
    assert told == [1.0]
    (folder / "model.safetensors").write_bytes(b"abd")
    with pytest.raises(CheckpointError, match="sha256"):
        verification.verify(folder, unchecked, told.append)


def test_a_pipe_is_no_memory_and_is_left_alone(tmp_path: Path) -> None:
    folder, pipe = folder_of(tmp_path / "m", b"abc"), tmp_path / "pipe"
    os.mkfifo(pipe)
    assert slices_read(folder, pipe) == 1
    assert pipe.is_fifo()


def test_twelve_digits_tell_weights_from_others(tmp_path: Path) -> None:
    manifests = [
        read_manifest(folder_of(tmp_path / name, *bodies))
        for name, bodies in (("a", [b"abc"]), ("b", [b"abd"]), ("c", [b"abc", b"d"]), ("d", [b"abc", b"e"]))
    ]
    told = [short_digest(manifest) for manifest in manifests]
    assert told[0] == hashlib.sha256(b"abc").hexdigest()[:12]
    assert len(set(told)) == 4
    assert {len(digits) for digits in told} == {12}


def test_sizes_are_held_against_the_manifest_without_reading(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "m", b"abc")
    (folder / "model.safetensors").write_bytes(b"xyz")
    assert check_manifest(folder) == read_manifest(folder)
    (folder / "model.safetensors").write_bytes(b"xyzw")
    with pytest.raises(CheckpointError, match="has 4 bytes"):
        check_manifest(folder)


def test_the_newest_digests_are_remembered(
    tmp_path: Path, memory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.yue2.files.digests.MOST_REMEMBERED", 2)
    folders = [folder_of(tmp_path / name, name.encode()) for name in "abc"]
    assert [slices_read(folder, memory) for folder in folders] == [1, 1, 1]
    assert [slices_read(folder, memory) for folder in folders[1:]] == [0, 0]
    assert slices_read(folders[0], memory) == 1
    assert sorted(path.name for path in memory.parent.iterdir()) == ["digests.json"]


FILE = {"bytes": 3, "sha256": "ab" * 32}


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ({"schema": 2, "files": {"model.safetensors": FILE}}, r"schema in .* must be 1, but is 2"),
        ({"schema": 1}, r"files is missing from weights_manifest\.json"),
        (
            {"schema": 1, "files": {}},
            r"1 file that weights_manifest\.json does not name \(model\.safetensors\)",
        ),
        (
            {"schema": 1, "files": {"model.safetensors": FILE, "../b": FILE}},
            r"1 file of weights_manifest\.json missing \(\.\./b\)",
        ),
        (
            {"schema": 1, "files": {"model.safetensors": FILE | {"bytes": -1}}},
            r"model\.safetensors\.bytes in",
        ),
        (
            {"schema": 1, "files": {"model.safetensors": FILE | {"sha256": "ab"}}},
            r"must be 64 hexadecimal digits",
        ),
        ({"schema": 1, "files": {"model.safetensors": 3}}, r"must be an object"),
    ],
)
def test_a_manifest_that_is_not_of_the_folders_files_is_refused(
    tmp_path: Path, values: object, fault: str
) -> None:
    folder = folder_of(tmp_path / "m", b"abc")
    manifest(folder, values)
    with pytest.raises(CheckpointError, match=fault):
        read_manifest(folder)


def test_upper_case_digits_are_the_same_digest(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "m", b"abc")
    manifest(folder, {"schema": 1, "files": {"model.safetensors": FILE | {"sha256": "AB" * 32}}})
    assert read_manifest(folder) == {"model.safetensors": Promise(3, "ab" * 32)}


def test_a_folder_without_manifest_or_weights_is_refused(tmp_path: Path) -> None:
    folder = folder_of(tmp_path / "m", b"abc")
    (folder / "model.safetensors").unlink()
    manifest(folder, {"schema": 1, "files": {}})
    with pytest.raises(CheckpointError, match="it has no weights"):
        read_manifest(folder)
    (folder / "weights_manifest.json").unlink()
    with pytest.raises(CheckpointError, match=r"weights_manifest\.json is missing"):
        read_manifest(folder)
    with pytest.raises(CheckpointError, match="it is no folder"):
        read_manifest(tmp_path / "absent")
