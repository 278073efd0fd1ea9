"""Speech written down from end to end."""

import resource
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from numpy.typing import NDArray

from bench.sound.matching import match
from engine.control import Uncontrolled
from engine.errors import CheckpointError, InvalidRequest
from engine.request import read_song
from engine.sketch.pipeline import SketchModel
from engine.song_model import Expected
from engine.transcription import device, pipeline
from engine.transcription.pipeline import WhisperTranscription
from engine.transcription.tokens import TokenText
from engine.transcription.whisper import BEAM, Attempt, Encoded, Whisper
from engine.transcription_model import Segment, Transcript
from engine.transcription_request import TranscriptionRequest
from tests.engine.transcription.folders import folder
from tests.engine.transcription.spoken import (
    RATE_HZ,
    Loud,
    Recording,
    record,
    speech_by_turns,
    wav,
    word_error_rate,
)

DATA = Path(__file__).parents[2] / "data" / "speech"
READING = (
    "The morning train left the station at half past eight, carrying a few sleepy passengers toward the coast.",
    "Outside the windows, the fields were still wet from the rain that had fallen during the night.",
    "An old man unfolded his newspaper and began to read the headlines aloud.",
    "Nobody complained, because his voice was warm and unhurried.",
    "When the conductor came by, he listened for a moment, smiled, and forgot to check the tickets.",
    "By the time the sea came into view, the children in the next row had fallen asleep.",
    "He looked out at the water, and said that it would be a beautiful day after all.",
    "The other passengers nodded, gathered their coats and bags, and waited for the doors to open.",
    "A cold wind met them on the platform, but the sun was already breaking through the clouds.",
)


SONGS = (
    (
        "folk, acoustic guitar, warm",
        "[Verse]\nThe rain is on the window pane\nThe light is in the hall\n"
        "[Chorus]\nSo come back home, come home again\nCome home before the fall",
    ),
    (
        "folk, warm, acoustic guitar, female vocal, English",
        "[Verse]\nRain on the window\nLights in the hall\nI hear you calling\nBehind the wall\n"
        "Come back tomorrow\nCome back at all",
    ),
    (
        "jazz ballad, slow, piano, 70 BPM",
        "[Verse]\nI look for you but you are not there\nOnly a shadow I see\n"
        "Maybe tomorrow you will remember my name",
    ),
)


@pytest.fixture(scope="module")
def band() -> SketchModel:
    """The built-in band and its singer."""
    return SketchModel()


def played(band: SketchModel, style: str, lyrics: str, seed: int) -> Recording:
    """A song of at most a minute, both channels as one."""
    asked = {"style": style, "lyrics": lyrics, "lm_seed": seed, "seed": 1, "duration": 60}
    (track,) = band.generate(read_song(asked), Uncontrolled())
    return of(np.asarray(track.samples).mean(axis=1), track.sample_rate_hz)


class Heard(Uncontrolled):
    """Owner of what was reported; stops after so many reports."""

    def __init__(self, most: int = 1_000) -> None:
        self.reports: list[tuple[str, float, int]] = []
        self._most = most

    def check_cancelled(self) -> None:
        if len(self.reports) >= self._most:
            raise Stopped

    def report(self, phase: str, fraction: float, **counters: int) -> None:
        self.reports.append((phase, fraction, counters["seconds"]))


class Laconic(Whisper):
    """Hears one word in every window; owner of their number."""

    def __init__(self, text: TokenText) -> None:
        self.text = text
        self.windows = 0

    def begin(self) -> None:
        pass

    def heard(self, samples: NDArray[np.float32]) -> Encoded:
        self.windows += 1
        return Encoded(None, len(samples) // 160)

    def attempt(
        self, encoded: Encoded, prompt: list[int], temperature: float, no_repeat: int = 0, beam: int = BEAM
    ) -> Attempt:
        return Attempt(tuple(self.text.encode("Yes.")), 0.0, -0.2, 0.1)

    def pairs(self, encoded: Encoded, opening: list[int], tokens: Sequence[int]) -> list[tuple[int, int]]:
        return [(0, 0)]


class Stopped(Exception):
    """The caller's own error."""


def listen(model: WhisperTranscription, content: Recording, **options: Any) -> Transcript:
    return model.transcribe(content.file(), TranscriptionRequest(**options), Uncontrolled())


def of(samples: np.ndarray[Any, np.dtype[np.floating[Any]]], rate_hz: int = 16_000) -> Recording:
    return Recording(wav(samples.astype(np.float32), rate_hz), (), ())


def test_phrases_are_written_down_without_a_mistake(transcript: Transcript, recording: Recording) -> None:
    assert word_error_rate(" ".join(recording.phrases), transcript.text) == 0
    assert (transcript.language, transcript.language_probability) == ("en", 1.0)
    assert transcript.seconds == pytest.approx(len(recording.content) / 4 / RATE_HZ, abs=0.01)
    assert transcript.text == " ".join(segment.text for segment in transcript.segments)


def test_phrases_begin_and_end_where_they_are_heard(transcript: Transcript, recording: Recording) -> None:
    words = [word for segment in transcript.segments for word in segment.words]
    begins, ends, place = [], [], 0
    for phrase, (start, end) in zip(recording.phrases, recording.times, strict=True):
        begins.append(abs(words[place].start - start))
        place += len(phrase.split())
        ends.append(abs(words[place - 1].end - end))
    assert place == len(words)
    assert np.mean(begins) <= 0.06
    assert np.mean(ends) <= 0.12


def test_words_are_in_order_and_within_the_recording(transcript: Transcript) -> None:
    edges = [
        edge for segment in transcript.segments for word in segment.words for edge in (word.start, word.end)
    ]
    assert edges == sorted(edges)
    assert 0 <= edges[0] <= edges[-1] <= transcript.seconds
    for segment in transcript.segments:
        assert (segment.start, segment.end) == (segment.words[0].start, segment.words[-1].end)
        assert " ".join(word.text for word in segment.words) == segment.text
        assert segment.tokens


def test_progress_is_told_and_does_not_go_back(model: WhisperTranscription, recording: Recording) -> None:
    control = Heard(most=1)
    with pytest.raises(Stopped):
        model.transcribe(recording.file(), TranscriptionRequest(), control)
    assert control.reports == [("listening", 0.0, 0)]
    quiet = Heard()
    model.transcribe(of(np.zeros(48_000)).file(), TranscriptionRequest(), quiet)
    assert quiet.reports == [("listening", 0.0, 0), ("listening", 1.0, 3)]


def test_what_is_stopped_hears_no_further_window(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: TokenText
) -> None:
    whisper = Laconic(text)
    monkeypatch.setattr(pipeline, "SpeechDetector", Loud)
    monkeypatch.setattr(device, "Whisper", lambda *arguments: whisper)
    model = WhisperTranscription(folder(tmp_path / "base"), device="cpu")
    control, request = Heard(most=3), TranscriptionRequest(language="en")
    with pytest.raises(Stopped):
        model.transcribe(speech_by_turns(5).file(), request, control)
    assert len(control.reports) == 3
    assert whisper.windows == 2


def test_each_segment_is_told_before_the_next_window_is_heard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: TokenText
) -> None:
    whisper = Laconic(text)
    monkeypatch.setattr(pipeline, "SpeechDetector", Loud)
    monkeypatch.setattr(device, "Whisper", lambda *arguments: whisper)
    model = WhisperTranscription(folder(tmp_path / "base"), device="cpu")
    told: list[tuple[int, Segment]] = []
    transcript = model.transcribe(
        speech_by_turns(5).file(),
        TranscriptionRequest(language="en"),
        Uncontrolled(),
        lambda segment: told.append((whisper.windows, segment)),
    )
    assert [segment for _, segment in told] == list(transcript.segments)
    assert [windows for windows, _ in told] == list(range(1, whisper.windows + 1))
    assert whisper.windows > 1
    assert transcript.text == "".join(segment.blank + segment.text for segment in transcript.segments)


@pytest.mark.parametrize("seconds", [0.0, 0.01, 5.0])
def test_silence_is_an_empty_transcript(model: WhisperTranscription, seconds: float) -> None:
    transcript = listen(model, of(np.zeros(round(seconds * 16_000))))
    assert (transcript.text, transcript.segments, transcript.seconds) == ("", (), seconds)


@pytest.mark.runtime
def test_noise_and_tones_are_an_empty_transcript(model: WhisperTranscription) -> None:
    times = np.arange(10 * 16_000) / 16_000
    noise = np.random.default_rng(1).normal(0, 0.1, len(times))
    tremolo = np.sin(2 * np.pi * 220 * times) * (1 + np.sin(2 * np.pi * 4 * times)) / 4
    harmonics = np.arange(1, 9)[:, None]
    hum = (np.sin(2 * np.pi * 50 * harmonics * times) / harmonics / 5).sum(axis=0)
    assert [listen(model, of(sound)).text for sound in (noise, tremolo, hum)] == ["", "", ""]


@pytest.mark.parametrize(
    ("options", "field"),
    [({"language": "de"}, "language"), ({"language": "xx"}, "language"), ({"task": "translate"}, "task")],
)
def test_what_the_model_lacks_is_refused(
    model: WhisperTranscription, recording: Recording, options: dict[str, Any], field: str
) -> None:
    request = TranscriptionRequest(**options)
    for ask in (model.check, lambda asked: model.transcribe(recording.file(), asked, Uncontrolled())):
        with pytest.raises(InvalidRequest) as refused:
            ask(request)
        assert refused.value.field == field


def test_english_is_no_matter_how_it_is_called(model: WhisperTranscription) -> None:
    for language in ("", "en", "English", "en-GB"):
        model.check(TranscriptionRequest(language=language))
    assert listen(model, of(np.zeros(100)), language="English").language == "en"


def test_a_damaged_file_is_refused(model: WhisperTranscription, recording: Recording) -> None:
    content = Recording(recording.content[: len(recording.content) // 20], (), ())
    with pytest.raises(InvalidRequest, match="damaged or cut short") as refused:
        listen(model, content)
    assert refused.value.field == "audio"


def test_the_model_describes_itself(model: WhisperTranscription) -> None:
    told = model.describe()
    assert (told["id"], told["kind"], told["operations"]) == (
        "whisper-tiny.en",
        "transcription",
        ["transcribe"],
    )
    assert (told["languages"], told["tasks"]) == (["en"], ["transcribe"])
    assert model.rates_id == "whisper-tiny.en cpu int8"
    assert model.stages(TranscriptionRequest(), 90.0) == [Expected("listening", 90.0, "score")]


def test_a_folder_without_a_model_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"lacks model\.bin"):
        WhisperTranscription(tmp_path)


def test_after_it_was_unloaded_it_opens_again(model: WhisperTranscription) -> None:
    model.unload()
    assert listen(model, of(np.zeros(100))).text == ""


@pytest.mark.runtime
def test_a_minute_of_reading_has_three_wrong_words_in_a_hundred_at_most(model: WhisperTranscription) -> None:
    reading = record(READING, [0.4] * len(READING))
    transcript = listen(model, reading)
    assert word_error_rate(" ".join(READING), transcript.text) <= 0.03
    starts = [word.start for segment in transcript.segments for word in segment.words]
    assert max(later - earlier for earlier, later in pairwise(starts)) < 3


@pytest.mark.runtime
@pytest.mark.parametrize("name", ["two_cities", "sense_and_sensibility", "go_forward"])
def test_people_are_understood(model: WhisperTranscription, name: str) -> None:
    said = (DATA / f"{name}.txt").read_text("utf-8")
    with (DATA / f"{name}.opus").open("rb") as file:
        transcript = model.transcribe(file, TranscriptionRequest(), Uncontrolled())
    assert word_error_rate(said, transcript.text) <= 0.05


@pytest.mark.runtime
def test_the_same_file_and_options_give_the_same_transcript(
    model: WhisperTranscription, recording: Recording
) -> None:
    first, second = (listen(model, recording, temperature=1.0, prompt="Umbrella") for _ in range(2))
    assert first == second


@pytest.mark.runtime
@pytest.mark.parametrize(("style", "lyrics"), SONGS)
def test_what_is_sung_to_a_band_is_understood(
    model: WhisperTranscription, band: SketchModel, style: str, lyrics: str
) -> None:
    said = " ".join(line for line in lyrics.splitlines() if not line.startswith("["))
    shares = [
        match(said, listen(model, played(band, style, lyrics, seed)).text).recognised for seed in (7, 12)
    ]
    assert min(shares) >= 0.5


@pytest.mark.runtime
@pytest.mark.parametrize(
    "style", ["folk", "pop", "rock", "jazz", "ballad", "orchestral", "bossa nova", "metal", "lullaby, flute"]
)
def test_what_nobody_sings_to_is_an_empty_transcript(
    model: WhisperTranscription, band: SketchModel, style: str
) -> None:
    assert listen(model, played(band, f"{style}, instrumental", "", 80)).text == ""


@pytest.mark.runtime
def test_speech_amid_music_is_written_down_when_it_is_said(
    model: WhisperTranscription, band: SketchModel, recording: Recording
) -> None:
    music, _ = soundfile.read(played(band, "folk, instrumental", "", 5).file(), dtype="float32")
    sound, _ = soundfile.read(recording.file(), dtype="float32")
    mixed = sound + 0.1 * np.resize(music[::2], len(sound))
    transcript = listen(model, of(mixed, RATE_HZ))
    assert word_error_rate(" ".join(recording.phrases), transcript.text) <= 0.1
    words = [word for segment in transcript.segments for word in segment.words]
    starts = np.array([word.start for word in words])
    assert np.mean([np.abs(starts - start).min() for start, _ in recording.times]) <= 0.1


@pytest.mark.runtime
def test_an_hour_takes_no_more_memory_than_a_minute(model: WhisperTranscription, tmp_path: Path) -> None:
    phrase = record(["She bought a new bicycle."], [3.0])
    sound, _ = soundfile.read(phrase.file(), dtype="float32")
    minutes = np.zeros(720 * RATE_HZ, np.float32)
    minutes[: len(sound)] = sound
    path = tmp_path / "hour.flac"
    with soundfile.SoundFile(path, "w", RATE_HZ, 1, format="FLAC", subtype="PCM_16") as file:
        for _ in range(5):
            file.write(minutes)
    listen(model, of(minutes[: 60 * RATE_HZ], RATE_HZ))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with path.open("rb") as hour:
        transcript = model.transcribe(hour, TranscriptionRequest(), Uncontrolled())
    grown_kib = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert transcript.seconds == 3_600
    assert transcript.text.count("bicycle") == 5
    assert grown_kib < 64 * 1_024  # the hour is 230 MB as float32 at 16 kHz
