"""Text on its way to speech."""

import io
import json
import sys
from collections.abc import Iterator

import numpy as np
import pytest

from engine.audio import AudioForm, decode
from engine.catalogue import Catalogue
from engine.control import Uncontrolled
from engine.errors import InvalidRequest, UnknownModel
from engine.request import DRAWN_SEED_LIMIT
from engine.speech_model import Spoken
from engine.speech_request import SpeechRequest, read_speech
from server.speech_operations import SpeechOperations
from server.work import Making, Packed, Prepared, Stopwatch
from tests.server.sound_doubles import RATE_HZ, SpeechDouble

TEXT = "One two three. Four five."


@pytest.fixture(scope="module")
def operations() -> SpeechOperations:
    return SpeechOperations(Catalogue(speech=[SpeechDouble()]), lambda: DRAWN_SEED_LIMIT + 7)


def asked(**fields: object) -> SpeechRequest:
    return read_speech({"text": TEXT, "output_format": "wav32", **fields})


def made(prepared: Prepared) -> tuple[dict[str, bytes], Packed, list[int]]:
    """The parts, what was packed, and how much could be heard at each offer."""
    sink, stopwatch, offered = io.BytesIO(), Stopwatch(), list[int]()
    making = Making(
        "0" * 16, sink, Uncontrolled(), stopwatch, offer=lambda: offered.append(len(sink.getvalue()))
    )
    packed = prepared.work(making)
    assert stopwatch.pipeline_seconds > 0
    body = sink.getvalue()
    return (
        {part.name: body[part.offset : part.offset + part.length] for part in packed.parts},
        packed,
        offered,
    )


def test_speech_is_audio_and_then_what_gives_it_again(operations: SpeechOperations) -> None:
    parts, packed, _ = made(operations.speech(asked()))
    samples, rate = decode(io.BytesIO(parts["audio"]))
    assert (samples.shape, rate, packed.content_type) == ((round(1.25 * RATE_HZ), 1), RATE_HZ, "audio/wav")
    replay = json.loads(parts["replay"])
    assert replay.pop("words") == [
        {"word": word, "start": number / 4, "end": number / 4 + 0.25}
        for number, word in enumerate(["One", "two", "three", "Four", "five"])
    ]
    assert replay == asked().model_dump() | {"model": "spoken", "voice": "one", "seed": 7}
    assert packed.metrics == {"audio_seconds": 1.25, "characters": len(TEXT)}
    assert [part.filename for part in packed.parts] == ["0" * 16 + ".wav", "0" * 16 + ".json"]
    assert packed.parts[0].seconds == 1.25


def test_what_the_model_notes_is_known_before_it_speaks(operations: SpeechOperations) -> None:
    assert operations.speech(asked()).notes == ()
    assert operations.speech(asked(text="A whisper.")).notes == ("It is whispered.",)


def test_a_replay_is_understood_and_gives_the_same_again(operations: SpeechOperations) -> None:
    first, _, _ = made(operations.speech(asked()))
    second, _, _ = made(operations.speech(read_speech(json.loads(first["replay"]))))
    assert first == second


@pytest.mark.parametrize("output_format", ["mp3", "opus", "flac", "wav16"])
def test_each_sentence_is_offered_as_it_is_encoded(operations: SpeechOperations, output_format: str) -> None:
    prepared = operations.speech(asked(output_format=output_format, seed=1))
    parts, packed, offered = made(prepared)
    assert prepared.followed == packed.content_type == packed.parts[0].content_type
    assert len(offered) >= 2
    assert offered == sorted(offered)
    assert offered[-1] <= len(parts["audio"])
    samples, rate = decode(io.BytesIO(parts["audio"]))
    assert len(samples) / rate == pytest.approx(1.25, abs=0.01)


def test_what_it_takes_is_told_before(operations: SpeechOperations) -> None:
    prepared = operations.speech(asked())
    assert [(stage.phase, stage.units, stage.source) for stage in prepared.stages] == [
        ("speaking", float(len(TEXT)), "score")
    ]
    assert (prepared.operation, prepared.model, prepared.rates_id) == ("speech", "spoken", "spoken one")


def test_each_option_has_its_digest_and_what_is_the_default_none_of_its_own(
    operations: SpeechOperations,
) -> None:
    changed: list[dict[str, object]] = [
        {},
        {"model": "spoken"},
        {"speed": 1.5},
        {"voice": "one"},
        {"seed": 3},
        {"text": "Other."},
    ]
    digests = [operations.speech(asked(**fields)).digest for fields in changed]
    assert digests[0] == digests[1] == digests[3]
    assert len(set(digests)) == 4


def test_what_no_model_can_do_is_refused(operations: SpeechOperations) -> None:
    with pytest.raises(InvalidRequest, match="no voice 'two'"):
        operations.speech(asked(voice="two"))
    with pytest.raises(InvalidRequest, match="'sketch' is not one that speaks"):
        operations.speech(asked(model="sketch"))
    with pytest.raises(UnknownModel):
        SpeechOperations(Catalogue(), lambda: 0).speech(asked())


def test_it_stops_between_sentences() -> None:
    class Stopped(Uncontrolled):
        checks = 0

        def check_cancelled(self) -> None:
            self.checks += 1
            if begun == [0, 1]:
                raise KeyboardInterrupt

    begun: list[int] = []
    operations = SpeechOperations(Catalogue(speech=[SpeechDouble(begun.append)]), lambda: 0)
    with pytest.raises(KeyboardInterrupt):
        operations.speech(asked(text="One. Two. Three.")).work(
            Making("0" * 16, io.BytesIO(), Stopped(), Stopwatch())
        )
    assert begun == [0, 1]


def test_one_sentence_at_a_time_is_held() -> None:
    """A long speech is encoded while it is made: nothing waits for its end."""
    events: list[str] = []

    class Watched(SpeechDouble):
        def speak(self, *args: object) -> Iterator[Spoken]:
            for number in range(3):
                events.append(f"made {number}")
                yield Spoken(np.zeros((2400, 1), np.float32), ())

    operations = SpeechOperations(Catalogue(speech=[Watched()]), lambda: 0)
    making = Making(
        "0" * 16, io.BytesIO(), Uncontrolled(), Stopwatch(), offer=lambda: events.append("offered")
    )
    operations.speech(asked()).work(making)
    assert events == ["made 0", "offered", "made 1", "offered", "made 2", "offered"]


FORMS = [
    (AudioForm("pcm", rate_hz=16_000), "audio/pcm", ".pcm"),
    (AudioForm("aac", 64), "audio/aac", ".aac"),
    (AudioForm("ulaw"), "audio/basic", ".ulaw"),
    (AudioForm("mp3", 32, 22_050), "audio/mpeg", ".mp3"),
    (AudioForm("opus", 32, 48_000), "audio/ogg; codecs=opus", ".opus"),
]


@pytest.mark.parametrize(("form", "content_type", "ending"), FORMS)
def test_another_form_than_the_requests_own_is_followed_as_it_is_made(
    operations: SpeechOperations, form: AudioForm, content_type: str, ending: str
) -> None:
    prepared = operations.speech(asked(seed=1), form)
    parts, packed, offered = made(prepared)
    audio = packed.parts[0]
    assert prepared.followed == packed.content_type == audio.content_type == content_type
    assert audio.filename.endswith(ending)
    assert (audio.seconds, packed.metrics["audio_seconds"]) == (1.25, 1.25)
    assert offered == sorted(offered)
    assert 0 < offered[0] < offered[-1] <= len(parts["audio"])
    assert prepared.digest != operations.speech(asked(seed=1)).digest


def test_a_form_that_a_request_could_have_named_is_told_by_the_replay(operations: SpeechOperations) -> None:
    by_form, _, _ = made(operations.speech(asked(seed=1), AudioForm("flac")))
    by_request, _, _ = made(operations.speech(asked(seed=1, output_format="flac")))
    assert by_form == by_request


@pytest.mark.parametrize(
    ("form", "sentence"),
    [(AudioForm("aac"), "PyAV"), (AudioForm("mp3", 240), "240 kbit/s"), (AudioForm("au"), "'au'")],
)
def test_a_form_that_cannot_be_written_is_refused_before_anything_is_said(
    operations: SpeechOperations, monkeypatch: pytest.MonkeyPatch, form: AudioForm, sentence: str
) -> None:
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(InvalidRequest, match=sentence):
        operations.speech(asked(), form)
