"""The model and a recording, each made once."""

import numpy as np
import pytest

from engine.control import Uncontrolled
from engine.transcription.pipeline import WhisperTranscription
from engine.transcription.tokens import TokenText
from engine.transcription.weights import packaged
from engine.transcription_model import Transcript
from engine.transcription_request import TranscriptionRequest
from tests.engine.transcription.spoken import PHRASES, Recording, record


@pytest.fixture(scope="session")
def model() -> WhisperTranscription:
    """The packaged model, on one thread."""
    return WhisperTranscription(device="cpu", threads=1)


@pytest.fixture(scope="session")
def text() -> TokenText:
    """The packaged model's tokens."""
    return TokenText(packaged().located() / "tokenizer.json")


@pytest.fixture(scope="session")
def recording() -> Recording:
    """Eight phrases, with pauses of 0.7 to 1.75 s before them."""
    return record(PHRASES, np.linspace(0.7, 1.75, len(PHRASES)).tolist())


@pytest.fixture(scope="session")
def transcript(model: WhisperTranscription, recording: Recording) -> Transcript:
    """What the model writes down of the recording."""
    return model.transcribe(recording.file(), TranscriptionRequest(), Uncontrolled())
