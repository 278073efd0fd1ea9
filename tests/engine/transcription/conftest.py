"""The model and a recording, each made once."""

import io
from pathlib import Path

import numpy as np
import pytest

from engine.control import Uncontrolled
from engine.transcription import device, whisper
from engine.transcription.pipeline import WhisperTranscription
from engine.transcription.tokens import TokenText
from engine.transcription.weights import Weights, packaged, weights_in
from engine.transcription_model import Transcript
from engine.transcription_request import TranscriptionRequest
from tests.engine.transcription.folders import folder
from tests.engine.transcription.spoken import PHRASES, Recording, record, wav


@pytest.fixture(scope="session")
def opened_whisper() -> whisper.Whisper:
    """The packaged model, on one thread."""
    return whisper.Whisper(packaged(), "cpu", "int8", 1)


@pytest.fixture(scope="session")
def model(opened_whisper: whisper.Whisper) -> WhisperTranscription:
    """What transcribes with it."""
    made = WhisperTranscription(device="cpu", threads=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(device, "Whisper", lambda *arguments: opened_whisper)
        made.transcribe(io.BytesIO(wav(np.zeros(1, np.float32))), TranscriptionRequest(), Uncontrolled())
    return made


@pytest.fixture(scope="session")
def text() -> TokenText:
    """The packaged model's tokens."""
    return TokenText(packaged().located() / "tokenizer.json")


@pytest.fixture
def light(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: TokenText) -> Weights:
    """Weights that are opened at once where CTranslate2 is replaced: the tokens are the packaged model's."""
    monkeypatch.setattr(whisper, "TokenText", lambda path: text)
    return weights_in(folder(tmp_path / "light"))


@pytest.fixture(scope="session")
def recording() -> Recording:
    """Five phrases, with pauses of 0.7 to 1.75 s before them."""
    return record(PHRASES, np.linspace(0.7, 1.75, len(PHRASES)).tolist())


@pytest.fixture(scope="session")
def transcript(model: WhisperTranscription, recording: Recording) -> Transcript:
    """What the model writes down of the recording."""
    return model.transcribe(recording.file(), TranscriptionRequest(), Uncontrolled())
