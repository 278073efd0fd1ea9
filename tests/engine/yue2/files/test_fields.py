import json
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.errors import CheckpointError
from engine.yue2.files.fields import Fields, parse_object


def fields(**values: object) -> Fields:
    return Fields(Path("/model"), "config.json", parse_object(json.dumps(values).encode()))


def test_values_within_bounds_are_read() -> None:
    held = fields(layers=28, eps=1e-6, theta=1000000, kind="vae", strides=[2, 4], inner={"width": 7})
    assert held.whole("layers", 1, 28) == 28
    assert held.real("eps", 0, 1) == 1e-6
    assert held.real("theta", 1, 1e12) == 1_000_000.0
    assert held.text("kind") == "vae"
    assert held.wholes("strides", 1, 6) == (2, 4)
    assert held.inner("inner").whole("width", 1, 9) == 7
    held.fixed("kind", "vae")


@pytest.mark.parametrize("value", [0, 101, -3, 10**400, True, 2.0, "7", None, [1], {"a": 1}])
def test_what_is_no_whole_number_within_bounds_is_refused(value: object) -> None:
    with pytest.raises(
        CheckpointError, match=r"size in config\.json must be a whole number from 1 to 100, but is"
    ):
        fields(size=value).whole("size", 1, 100)


@pytest.mark.parametrize("value", [0, -1.0, 1.5, 1e300, True, "1", None, []])
def test_what_is_no_number_within_bounds_is_refused(value: object) -> None:
    with pytest.raises(
        CheckpointError, match=r"eps in config\.json must be a number above 0 and up to 1, but is"
    ):
        fields(eps=value).real("eps", 0, 1)


@pytest.mark.parametrize("value", [[], [0], [1, "2"], "12", {"0": 1}, [1] * 65, [[1]]])
def test_what_is_no_list_of_whole_numbers_is_refused(value: object) -> None:
    with pytest.raises(CheckpointError, match=r"strides.* in config\.json must be a (list of )?whole number"):
        fields(strides=value).wholes("strides", 1, 100)


def test_a_missing_value_is_named_with_the_object_it_is_missing_from() -> None:
    with pytest.raises(CheckpointError, match=r"decoder\.width is missing from config\.json"):
        fields(decoder={}).inner("decoder").whole("width", 1, 2)
    with pytest.raises(CheckpointError, match=r"decoder in config\.json must be an object"):
        fields(decoder=3).inner("decoder")
    with pytest.raises(CheckpointError, match=r"kind in config\.json must be a text, but is 3"):
        fields(kind=3).text("kind")


@pytest.mark.parametrize("value", [1, "true", None, False])
def test_only_the_one_value_that_can_be_computed_is_taken(value: object) -> None:
    with pytest.raises(CheckpointError, match=r"snake in config\.json must be true, but is"):
        fields(snake=value).fixed("snake", True)


def test_a_long_value_is_shown_in_part() -> None:
    with pytest.raises(CheckpointError) as refused:
        fields(size="x" * 5_000).whole("size", 1, 2)
    assert "xxx…" in str(refused.value)
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"", "Expecting value"),
        (b"[1]", "no object"),
        (b'{"a": NaN}', "NaN is no JSON number"),
        (b'{"a": 1, "a": 2}', "twice"),
        (b"\xff\xfe\xff", "decode"),
        (b'{"a": ' + b"[" * 100_000, "too deeply"),
        (b'{"a": ' + b"9" * 5_000 + b"}", "digits"),
    ],
    ids=["empty", "list", "nan", "twice", "bytes", "deep", "digits"],
)
def test_what_is_no_json_object_is_refused(tmp_path: Path, raw: bytes, reason: str) -> None:
    (tmp_path / "config.json").write_bytes(raw)
    with pytest.raises(CheckpointError, match=rf"config\.json is damaged \(.*{reason}"):
        Fields.read(tmp_path, "config.json")


@settings(max_examples=50)
@given(st.binary(max_size=40))
def test_any_bytes_are_an_object_or_a_value_error(raw: bytes) -> None:
    try:
        parsed = parse_object(raw)
    except ValueError:
        return
    assert isinstance(parsed, dict)


def test_files_that_are_not_there_or_too_large_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CheckpointError, match=r"config\.json is missing"):
        Fields.read(tmp_path, "config.json")
    with pytest.raises(CheckpointError, match="it is no folder"):
        Fields.read(tmp_path / "absent", "config.json")
    (tmp_path / "file").write_bytes(b"{}")
    with pytest.raises(CheckpointError, match="it is no folder"):
        Fields.read(tmp_path / "file", "config.json")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(CheckpointError, match=r"folder\.json in it cannot be read"):
        Fields.read(tmp_path, "folder.json")
    monkeypatch.setattr("engine.yue2.files.fields.MOST_JSON_BYTES", 1)
    with pytest.raises(CheckpointError, match="larger than"):
        Fields.read(tmp_path, "file")


def test_a_number_too_large_for_a_double_is_refused() -> None:
    held = Fields(Path("/m"), "c.json", {"eps": math.inf})
    with pytest.raises(CheckpointError, match=r"eps in c\.json must be a number"):
        held.real("eps", 0, 1)
    with pytest.raises(CheckpointError, match=r"eps in c\.json must be a number"):
        Fields(Path("/m"), "c.json", {"eps": 10**400}).real("eps", 0, 1)
