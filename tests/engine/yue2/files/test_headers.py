import json
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.yue2.files.headers import StoredTensor, read_header

ONE = {"dtype": "BF16", "shape": [2, 3], "data_offsets": [0, 12]}
TWO = {"dtype": "F32", "shape": [], "data_offsets": [12, 16]}


def file_of(folder: Path, entries: object, body: int = 16, length: int | None = None) -> Path:
    """A safetensors file with that header and so many bytes behind it."""
    header = json.dumps(entries).encode()
    path = folder / "x.safetensors"
    path.write_bytes((len(header) if length is None else length).to_bytes(8, "little") + header + bytes(body))
    return path


def read(path: Path) -> dict[str, StoredTensor]:
    with path.open("rb") as stream:
        return read_header(stream)


def test_tensors_are_told_with_their_places(tmp_path: Path) -> None:
    path = file_of(tmp_path, {"__metadata__": {"format": "pt"}, "one": ONE, "two": TWO})
    begin = path.stat().st_size - 16
    assert read(path) == {
        "one": StoredTensor("BF16", (2, 3), begin, 12),
        "two": StoredTensor("F32", (), begin + 12, 4),
    }


def test_a_dtype_that_nobody_knows_is_told_as_it_stands(tmp_path: Path) -> None:
    stored = read(file_of(tmp_path, {"one": {"dtype": "F6", "shape": [4], "data_offsets": [0, 3]}}, body=3))
    assert stored["one"].dtype == "F6"


@pytest.mark.parametrize(
    ("entries", "body", "reason"),
    [
        ({"one": ONE}, 11, "cut short: it has .* bytes of"),
        ({"one": ONE}, 13, "its header accounts for"),
        ({"one": ONE | {"data_offsets": [1, 13]}}, 13, "puts one at the wrong place"),
        ({"one": ONE, "two": TWO | {"data_offsets": [8, 12]}}, 12, "puts two at the wrong place"),
        ({"one": ONE | {"data_offsets": [12, 0]}}, 12, "gives one -12 bytes"),
        ({"one": ONE | {"data_offsets": [0, 11]}}, 11, "gives one 11 bytes"),
        ({"one": ONE | {"data_offsets": [0]}}, 12, "entry for one is damaged"),
        ({"one": ONE | {"data_offsets": [0, 2**63]}}, 12, "entry for one is damaged"),
        ({"one": ONE | {"shape": [-2, -3]}}, 12, "entry for one is damaged"),
        ({"one": ONE | {"shape": [2.0, 3]}}, 12, "entry for one is damaged"),
        ({"one": ONE | {"shape": [True, 6]}}, 12, "entry for one is damaged"),
        ({"one": ONE | {"shape": [1] * 65}}, 12, "entry for one is damaged"),
        ({"one": ONE | {"dtype": 16}}, 12, "entry for one is damaged"),
        ({"one": [ONE]}, 12, "no entry for one"),
        ([ONE], 12, "no object"),
    ],
)
def test_a_header_that_does_not_fit_its_file_is_refused(
    tmp_path: Path, entries: Any, body: int, reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        read(file_of(tmp_path, entries, body))


@pytest.mark.parametrize(
    ("length", "reason"),
    [
        (0, "does not begin with"),
        (2**63, "does not begin with"),
        (5_000, "cut short: its header alone needs"),
    ],
)
def test_a_wrong_header_length_is_refused(tmp_path: Path, length: int, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        read(file_of(tmp_path, {"one": ONE}, 12, length))


def test_empty_files_and_other_files_are_refused(tmp_path: Path) -> None:
    for raw in (b"", b"\x02\0\0\0\0\0\0\0", b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n"):
        path = tmp_path / "x.safetensors"
        path.write_bytes(raw)
        with pytest.raises(ValueError, match="does not begin with a safetensors header"):
            read(path)


def test_a_file_without_tensors_has_none(tmp_path: Path) -> None:
    assert read(file_of(tmp_path, {}, 0)) == {}


@settings(max_examples=50)
@given(st.integers(0, 200), st.integers(0, 255))
def test_any_changed_byte_gives_tensors_or_a_value_error(place: int, byte: int) -> None:
    header = json.dumps({"one": ONE, "two": TWO}).encode()
    raw = bytearray(len(header).to_bytes(8, "little") + header + bytes(16))
    raw[place % len(raw)] = byte
    with TemporaryFile() as stream:
        stream.write(raw)
        stream.seek(0)
        try:
            stored = read_header(stream)
        except ValueError:
            return
    assert sum(tensor.length for tensor in stored.values()) == 16
