"""What OpenAI's calls for transcriptions ask for, and what that means here."""

import io

import numpy as np
import pytest

from engine.audio import AudioForm, encode
from engine.catalogue import Catalogue
from engine.errors import InvalidRequest, MissingInput, UnknownModel
from engine.transcription_request import MOST_PROMPT_CHARACTERS, TranscriptionRequest
from server.compatible.transcription import (
    FIELDS,
    Transcribing,
    TranscriptionCall,
    read_transcription_call,
    request_of,
)
from server.transcription_operations import TranscriptionOperations
from server.uploads import LooseForm
from tests.server.sound_doubles import TranscriptionDouble


class EnglishOnly(TranscriptionDouble):
    """Cannot translate."""

    def check(self, request: TranscriptionRequest) -> None:
        if request.task != "transcribe":
            raise InvalidRequest("task", "This model cannot translate.")


def recording(seconds: float = 0.5) -> io.BytesIO:
    sink = io.BytesIO()
    encode(np.full((round(seconds * 16_000), 1), 0.1, np.float32), 16_000, AudioForm("flac"), sink)
    sink.seek(0)
    return sink


def form(file: io.BytesIO | None, *dropped: str, **texts: str | tuple[str, ...]) -> LooseForm:
    found = {name: (text,) if isinstance(text, str) else text for name, text in texts.items()}
    return LooseForm(found, file, frozenset((*found, *dropped, "file")), b"")


def read(**texts: str | tuple[str, ...]) -> TranscriptionCall:
    return read_transcription_call(form(io.BytesIO(b"sound"), **texts), "transcribe")[0]


def translated(**texts: str) -> TranscriptionCall:
    return read_transcription_call(form(io.BytesIO(b"sound"), **texts), "translate")[0]


def test_a_form_without_fields_asks_for_the_text_of_its_file() -> None:
    file = io.BytesIO(b"sound")
    call, sound = read_transcription_call(form(file), "transcribe")
    assert sound is file
    assert call == TranscriptionCall()
    assert request_of(call) == TranscriptionRequest()
    assert "task" not in FIELDS


def test_fields_come_as_text() -> None:
    call = read(
        model="whisper-1",
        language="en",
        prompt=" Kraków ",
        temperature="0.2",
        response_format="verbose_json",
        timestamp_granularities=("word", "segment"),
        stream="false",
    )
    assert call.timestamp_granularities == ("word", "segment")
    assert (call.temperature, call.stream) == (0.2, False)
    assert request_of(call) == TranscriptionRequest(language="en", prompt=" Kraków ", temperature=0.2)
    assert [read(stream=text).stream for text in ("true", "True", "1")] == [True] * 3


def test_an_empty_text_is_a_field_left_out() -> None:
    texts = dict.fromkeys(FIELDS - {"languages"}, "")
    assert read(languages=("", " "), **texts) == TranscriptionCall()


@pytest.mark.parametrize(
    ("texts", "field", "sentence"),
    [
        ({"model": ("a", "b")}, "model", "stands 2 times in the form"),
        ({"temperature": "hot"}, "temperature", 'must be a number; you sent "hot"'),
        ({"temperature": "1.1"}, "temperature", "between 0 and 1;"),
        ({"temperature": "nan"}, "temperature", "finite number"),
        ({"stream": "maybe"}, "stream", "must be true or false"),
        ({"response_format": "pdf"}, "response_format", "one of json, text, srt, verbose_json, vtt"),
        ({"response_format": "diarized_json"}, "response_format", "tells speakers apart"),
        ({"known_speaker_names": ("agent",)}, "known_speaker_names", "tells speakers apart"),
        ({"include": ("logprobs",)}, "include", "what no model here tells"),
        ({"language": "english"}, "language", "must be an ISO 639-1 code"),
        ({"languages": ("en", "Deutsch")}, "languages", "must be ISO 639-1 codes"),
        ({"timestamp_granularities": ("letter",)}, "timestamp_granularities", "word, segment or both"),
        ({"timestamp_granularities": ("word",)}, "timestamp_granularities", "stand in verbose_json"),
        (
            {"stream": "true", "response_format": "srt"},
            "stream",
            "^srt cannot be sent while the recording is written down",
        ),
    ],
)
def test_what_cannot_be_is_told(texts: dict[str, str | tuple[str, ...]], field: str, sentence: str) -> None:
    with pytest.raises(InvalidRequest, match=sentence) as caught:
        read(**texts)
    assert caught.value.field == field


def test_reference_sounds_of_speakers_are_not_kept_to_be_refused() -> None:
    with pytest.raises(InvalidRequest, match="leave known_speaker_references out"):
        read_transcription_call(form(io.BytesIO(b"x"), "known_speaker_references"), "transcribe")


def test_segments_may_be_asked_for_where_they_are_not_told() -> None:
    assert read(timestamp_granularities=("segment",)).response_format == "json"


@pytest.mark.parametrize("file", [None, io.BytesIO()])
def test_a_form_has_a_file_with_something_in_it(file: io.BytesIO | None) -> None:
    with pytest.raises(MissingInput, match="Send the recording as file") as caught:
        read_transcription_call(form(file), "transcribe")
    assert caught.value.field == "file"


@pytest.mark.parametrize(
    ("texts", "language"),
    [
        ({"languages": ("de",)}, "de"),
        ({"languages": ("de", "de")}, "de"),
        ({"languages": ("de", "en")}, ""),
        ({"languages": ("de", "fr"), "language": "en"}, "en"),
        ({"language": "en-US"}, "en-US"),
    ],
)
def test_one_language_is_spoken_and_of_several_the_one_that_is_heard(
    texts: dict[str, str | tuple[str, ...]], language: str
) -> None:
    call = read(**texts)
    assert request_of(call).language == language
    assert call.names_languages


def test_keywords_go_with_the_prompt() -> None:
    keywords = ("Łódź", "YuE2")
    assert request_of(read(prompt="A talk.", keywords=keywords)).prompt == "A talk. Łódź, YuE2"
    assert request_of(read(keywords=keywords)).prompt == "Łódź, YuE2"
    for texts, field in (
        ({"keywords": ("x" * MOST_PROMPT_CHARACTERS, "y")}, "keywords"),
        ({"prompt": "x" * (MOST_PROMPT_CHARACTERS + 1)}, "prompt"),
    ):
        with pytest.raises(InvalidRequest, match=f"at most {MOST_PROMPT_CHARACTERS} characters") as caught:
            request_of(read(**texts))
        assert caught.value.field == field


@pytest.fixture
def transcribing() -> Transcribing:
    return over(Catalogue(transcription=[TranscriptionDouble()]))


def over(catalogue: Catalogue) -> Transcribing:
    return Transcribing(catalogue, TranscriptionOperations(catalogue))


def test_a_call_becomes_the_work_of_a_native_request(transcribing: Transcribing) -> None:
    operations = TranscriptionOperations(Catalogue(transcription=[TranscriptionDouble()]))
    native = operations.transcribe(TranscriptionRequest(task="translate"), recording())
    for name in ("whisper-1", "gpt-4o-transcribe-2025-03-20", "heard", ""):
        prepared = transcribing.prepare(translated(model=name, response_format="srt"), recording())
        assert prepared.digest == native.digest


@pytest.mark.parametrize(
    "sound", [b"no sound at all", recording(0.05).getvalue(), recording().getvalue()[:40]]
)
def test_what_is_no_recording_or_too_short_is_the_fault_of_the_file(
    transcribing: Transcribing, sound: bytes
) -> None:
    with pytest.raises(InvalidRequest) as caught:
        transcribing.prepare(read(), io.BytesIO(sound))
    assert caught.value.field == "file"


def test_other_models_are_refused_by_name(transcribing: Transcribing) -> None:
    with pytest.raises(
        UnknownModel, match=r"no model 'other' here; choose one of: heard, whisper-1, .*GET /v1/models"
    ):
        transcribing.prepare(read(model="other"), recording())
    with pytest.raises(InvalidRequest, match="'tts-1' is not one that writes down speech") as caught:
        transcribing.prepare(read(model="tts-1"), recording())
    assert caught.value.field == "model"
    with pytest.raises(InvalidRequest, match="language must be one of") as caught:
        transcribing.prepare(read(language="xx"), recording())
    assert caught.value.field == "language"
    with pytest.raises(InvalidRequest, match="languages must be one of") as caught:
        transcribing.prepare(read(languages=("xx",)), recording())
    assert caught.value.field == "languages"


def test_a_model_that_cannot_translate_says_which_one_could() -> None:
    transcribing = over(Catalogue(transcription=[EnglishOnly()]))
    assert transcribing.prepare(read(), recording()).model == "heard"
    with pytest.raises(InvalidRequest, match="YUE2_WHISPER naming the folder of a multilingual") as caught:
        transcribing.prepare(translated(), recording())
    assert caught.value.field == "model"
