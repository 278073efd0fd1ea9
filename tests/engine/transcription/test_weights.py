"""Folders of weights."""

from pathlib import Path

import pytest

from engine.errors import CheckpointError
from engine.transcription.weights import packaged, weights_in
from tests.engine.transcription.folders import folder


def test_the_packaged_weights_are_the_ones_that_were_tried() -> None:
    weights = packaged()
    assert (weights.id, weights.languages, weights.multilingual) == ("whisper-tiny.en", ("en",), False)
    assert (weights.located() / "model.bin").is_file()


def test_a_folder_tells_its_languages(tmp_path: Path) -> None:
    weights = weights_in(folder(tmp_path / "base"))
    assert (weights.id, weights.languages, weights.multilingual) == ("whisper-base", ("en", "de"), True)
    assert weights.located() == tmp_path / "base"


def test_a_model_of_one_language_has_one_token_less(tmp_path: Path) -> None:
    weights = weights_in(folder(tmp_path / "small.en", first=50_256))
    assert (weights.languages, weights.multilingual) == (("en",), False)


@pytest.mark.parametrize("name", ["model.bin", "config.json", "tokenizer.json", "vocabulary.json"])
def test_a_missing_file_is_named(tmp_path: Path, name: str) -> None:
    (folder(tmp_path / "base") / name).unlink()
    with pytest.raises(CheckpointError, match=f"it lacks {name};"):
        weights_in(tmp_path / "base")


@pytest.mark.parametrize("content", [b"", b"\6\0\0\0\4\0Bert", b"\6\0\0\0\xff\xff\xff"])
def test_another_model_is_refused(tmp_path: Path, content: bytes) -> None:
    (folder(tmp_path / "base") / "model.bin").write_bytes(content)
    with pytest.raises(CheckpointError, match="not the model of a Whisper"):
        weights_in(tmp_path / "base")


@pytest.mark.parametrize(
    ("content", "reason"),
    [("{", "not readable as JSON"), ("[]", "no"), ("{}", "has no token <|startoftranscript|>")],
)
def test_another_tokenizer_is_refused(tmp_path: Path, content: str, reason: str) -> None:
    (folder(tmp_path / "base") / "tokenizer.json").write_text(content, "utf-8")
    with pytest.raises(CheckpointError, match=reason.replace("|", r"\|")):
        weights_in(tmp_path / "base")
