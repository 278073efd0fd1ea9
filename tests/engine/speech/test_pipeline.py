"""The model that speaks: what it says of itself, what it refuses, what is heard and when."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.control import Check, Uncontrolled
from engine.errors import InvalidRequest
from engine.speech.joining import PEAK, levels
from engine.speech.network import SpeechNetwork
from engine.speech.phonemes import Phonemic, Phonemiser
from engine.speech.pipeline import HibariSpeech
from engine.speech.voice import Speaker, Utterance, VoiceCard
from engine.speech_model import SpeechModel, Spoken
from engine.speech_request import SpeechRequest
from engine.words import Word

SPEEDS = (0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
TALE = "We met on Jan. 5th, 2024, at 7:30 pm. It cost $9.99!\n\nWasn't it “nice”? Yes"


class Stopped(Exception):
    """The caller's own error."""


class Told(Uncontrolled):
    """Remembers what was reported, and stops when it is told to."""

    def __init__(self, stop_after: int = 1000) -> None:
        self.reports: list[tuple[str, float, int]] = []
        self._left = stop_after

    def check_cancelled(self) -> None:
        """Stop after a number of checks."""
        if not self._left:
            raise Stopped
        self._left -= 1

    def report(self, phase: str, fraction: float, **counters: int) -> None:
        """Remember."""
        self.reports.append((phase, fraction, counters["sentences"]))


@pytest.fixture(scope="session")
def model(network: SpeechNetwork, phonemiser: Phonemiser) -> HibariSpeech:
    """With the packaged voice alone."""
    return HibariSpeech(network, phonemiser)


@pytest.fixture(scope="module")
def tales(model: HibariSpeech) -> dict[float, list[Spoken]]:
    """The tale at every speed that is held against the voice's own."""
    return {speed: said(model, TALE, speed) for speed in SPEEDS}


def said(model: HibariSpeech, text: str, speed: float = 1.0, seed: int = 1) -> list[Spoken]:
    return list(model.speak(SpeechRequest(text=text, speed=speed, seed=seed), Uncontrolled()))


def test_a_text_in_another_language_is_noted_and_said_all_the_same(model: HibariSpeech) -> None:
    german = SpeechRequest(text="Wie geht es Ihnen? Das ist nicht gut.")
    assert len(model.notes(german)) == 1
    assert "looks German" in model.notes(german)[0]
    assert said(model, german.text)
    assert model.notes(SpeechRequest(text=TALE)) == ()


def joined(spoken: Sequence[Spoken]) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    return np.concatenate([piece.samples[:, 0] for piece in spoken])


def words(spoken: Sequence[Spoken]) -> list[Word]:
    return [word for piece in spoken for word in piece.words]


def test_it_is_a_model_that_speaks(model: HibariSpeech) -> None:
    speaking: SpeechModel = model
    assert (speaking.id, speaking.sample_rate_hz) == ("hibari", 24_000)


def test_what_it_tells_of_itself(model: HibariSpeech) -> None:
    told = model.describe()
    assert (told["kind"], told["languages"], told["operations"]) == ("speech", ["en"], ["speech"])
    assert told["voices"] == [
        {
            "id": "heart",
            "name": "Heart",
            "language": "en-US",
            "gender": "female",
            "accent": "American",
            "model": "hibari",
        }
    ]
    assert told["defaults"] == {"voice": "heart", "speed": 1.0}


@pytest.mark.parametrize(
    ("request_", "field", "reason"),
    [
        (SpeechRequest(text="Hi", voice="emma"), "voice", "no voice 'emma' here; choose one of: heart."),
        (SpeechRequest(text="Привет"), "text", "Cyrillic"),
        (SpeechRequest(text="!?"), "text", "nothing to say"),
    ],
)
def test_what_it_refuses(model: HibariSpeech, request_: SpeechRequest, field: str, reason: str) -> None:
    with pytest.raises(InvalidRequest, match=reason) as caught:
        model.check(request_)
    assert caught.value.field == field


def test_its_work_is_counted_in_characters(model: HibariSpeech) -> None:
    ((stage),) = model.stages(SpeechRequest(text="Hello there"))
    assert (stage.phase, stage.units) == ("speaking", 11)


def test_words_are_told_as_they_were_written(tales: dict[float, list[Spoken]]) -> None:
    assert [word.text for word in words(tales[1.0])] == [
        *("We", "met", "on", "Jan", "5th", "2024", "at", "7:30", "pm", "It", "cost", "$9.99"),
        *("Wasn't", "it", "nice", "Yes"),
    ]


@pytest.mark.parametrize("speed", SPEEDS)
def test_words_follow_one_another_within_their_sound(tales: dict[float, list[Spoken]], speed: float) -> None:
    start = 0.0
    for piece in tales[speed]:
        end = start + len(piece.samples) / 24_000
        edges = [start, *(second for word in piece.words for second in (word.start, word.end)), end]
        assert edges == sorted(edges)
        start = end


@pytest.mark.parametrize("speed", [0.25, 0.5, 1.0, 2.0])
def test_a_word_is_heard_when_it_is_told(model: HibariSpeech, speed: float) -> None:
    spoken = said(model, "Stop. Go.", speed)
    sound, (stop, go) = joined(spoken), words(spoken)
    between = sound[int((stop.end + 0.15 / speed) * 24_000) : int((go.start - 0.1 / speed) * 24_000)]
    assert len(between) > 2400 / speed
    assert np.abs(between).max() < 0.01
    for word in (stop, go):
        assert np.abs(sound[int(word.start * 24_000) : int(word.end * 24_000)]).max() > 0.1
    loud = levels(sound)  # each 10 ms
    assert loud[int((go.start - 0.13 / speed) * 100)] < 0.01
    assert loud[int((go.start + 0.05 / speed) * 100)] > 0.03


def test_it_starts_at_once(tales: dict[float, list[Spoken]]) -> None:
    first, *_ = tales[1.0]
    assert first.words[0].start < 0.15
    assert np.abs(first.samples[: 24_000 // 5]).max() > 0.05


def test_the_same_seed_gives_the_same_samples(model: HibariSpeech) -> None:
    once, again, other = (joined(said(model, "One. Two.", seed=seed)) for seed in (5, 5, 6))
    assert np.array_equal(once, again)
    assert not np.array_equal(once, other)


@pytest.mark.parametrize("speed", SPEEDS)
def test_twice_the_speed_is_half_as_long(tales: dict[float, list[Spoken]], speed: float) -> None:
    own, other = (len(joined(tales[chosen])) for chosen in (1.0, speed))
    assert other * speed == pytest.approx(own, rel=0.1)
    assert [word.text for word in words(tales[speed])] == [word.text for word in words(tales[1.0])]


@pytest.mark.parametrize("speed", [2.0, 3.0, 4.0])
def test_words_of_hurried_speech_are_those_of_the_voices_own_pace(
    tales: dict[float, list[Spoken]], speed: float
) -> None:
    own, hurried = (words(tales[chosen]) for chosen in (1.0, speed))
    ends = own[-1].end, hurried[-1].end
    apart = [
        abs(ours.start / ends[0] - theirs.start / ends[1]) for ours, theirs in zip(own, hurried, strict=True)
    ]
    assert max(apart) < 0.05


def test_pieces_meet_in_silence_and_are_alike_in_loudness(tales: dict[float, list[Spoken]]) -> None:
    spoken = tales[1.0]
    assert all(np.abs(piece.samples[[0, -1]]).max() < 0.003 for piece in spoken)
    loud = [levels(piece.samples[:, 0]) for piece in spoken]
    active = [level[level > level.max() * 0.02] for level in loud]
    loudness = [float(10 * np.log10(np.mean(np.square(level)))) for level in active]
    assert len(loudness) == 4
    assert max(loudness) - min(loudness) < 0.5
    assert max(float(np.abs(piece.samples).max()) for piece in spoken) <= PEAK


def test_paragraphs_are_further_apart_than_sentences(tales: dict[float, list[Spoken]]) -> None:
    quiet = [np.argmax(np.abs(piece.samples[::-1, 0]) > 0) for piece in tales[1.0]]
    assert quiet[1] > quiet[0] + 4800


def test_progress_is_told_sentence_by_sentence(model: HibariSpeech) -> None:
    told = Told()
    list(model.speak(SpeechRequest(text="One. Two. Three.", seed=1), told))
    assert [(phase, sentences) for phase, _, sentences in told.reports] == [
        ("speaking", 1),
        ("speaking", 2),
        ("speaking", 3),
    ]
    fractions = [fraction for _, fraction, _ in told.reports]
    assert fractions == sorted(fractions)
    assert fractions[-1] == 1


def test_a_sentence_that_is_all_there_is_is_known_to_be(model: HibariSpeech) -> None:
    one, *two = (
        spoken
        for text in ("One.", "One. Two.")
        for spoken in model.speak(SpeechRequest(text=text, seed=1), Uncontrolled())
    )
    assert (one.is_whole, [spoken.is_whole for spoken in two]) == (True, [False, False])


def test_a_long_opening_is_no_sentence_of_its_own(model: HibariSpeech) -> None:
    told = Told()
    text = "When the long morning came at last, the whole village stood on the shore and watched the boats come in."
    list(model.speak(SpeechRequest(text=f"{text} Yes.", speed=2.0, seed=1), told))
    assert [sentences for _, _, sentences in told.reports] == [0, 1, 2]


def test_it_stops_between_sentences(model: HibariSpeech) -> None:
    spoken = model.speak(SpeechRequest(text="One. Two. Three.", seed=1), Told(stop_after=4))
    assert next(spoken).words[0].text == "One"
    with pytest.raises(Stopped):
        next(spoken)


def test_it_stops_while_nothing_is_said(model: HibariSpeech) -> None:
    silent = SpeechRequest.model_construct(text="One. " + "!? " * 5000, voice="", speed=1.0, seed=1)
    told = Told(stop_after=3)
    with pytest.raises(Stopped):
        next(model.speak(silent, told))
    assert not told.reports


def test_an_endless_word_is_said_in_pieces(model: HibariSpeech) -> None:
    spoken = said(model, "a" * 350, speed=2.0)
    assert len(spoken) > 1
    assert "".join(word.text for word in words(spoken)) == "a" * 350


class Beep:
    """A voice of one tone, which remembers what it was given to say."""

    def __init__(self) -> None:
        self.unloaded = 0
        self.lines: list[Sequence[Phonemic]] = []

    def most_phonemes(self, speed: float) -> int:
        """A few."""
        return round(50 * speed)

    def utter(
        self, words: Sequence[Phonemic], speed: float, draw: np.random.Generator, check: Check
    ) -> Utterance:
        """A second of it."""
        self.lines.append(words)
        return Utterance(np.full(24_000, 0.1, np.float32), ((0.0, 1.0),) * len(words))

    def unload(self) -> None:
        """Count."""
        self.unloaded += 1


BEEP = VoiceCard("beep", "Beep", "en-GB", "male", "British", "tone")


def beeping(network: SpeechNetwork, phonemiser: Phonemiser, beep: Beep) -> HibariSpeech:
    return HibariSpeech(network, phonemiser, [Speaker(BEEP, beep, phonemiser)])


def test_further_voices_are_told_and_chosen(network: SpeechNetwork, phonemiser: Phonemiser) -> None:
    model = beeping(network, phonemiser, Beep())
    voices = model.describe()["voices"]
    assert isinstance(voices, list)
    assert len(voices) == 2
    (only,) = model.speak(SpeechRequest(text="Hi", voice="beep", seed=1), Uncontrolled())
    assert len(only.samples) == pytest.approx(24_000 * 1.1, abs=10)


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("Go on", ["."]),
        ("Go on —", ["."]),
        ("Go on!", ["!"]),
        ("Go on; so", ["."]),
        ("On\n\nand on", [".", "."]),
    ],
)
def test_the_voice_falls_at_the_end_of_a_sentence(
    network: SpeechNetwork, phonemiser: Phonemiser, text: str, after: list[str]
) -> None:
    beep = Beep()
    list(
        beeping(network, phonemiser, beep).speak(
            SpeechRequest(text=text, voice="beep", seed=1), Uncontrolled()
        )
    )
    assert [line[-1].after for line in beep.lines] == after


def test_a_sentence_is_said_in_pieces_with_shorter_pauses(
    network: SpeechNetwork, phonemiser: Phonemiser
) -> None:
    beep = Beep()
    text = "Yes. They went along the river in the rain, and nobody in the whole wide valley had said a word."
    request = SpeechRequest(text=text, voice="beep", seed=1)
    spoken = list(beeping(network, phonemiser, beep).speak(request, Uncontrolled()))
    lengths = [sum(len(word.phonemes) + len(word.after) for word in line) for line in beep.lines]
    assert max(lengths) <= 50
    pauses = [len(piece.samples) / 24_000 - 1 for piece in spoken]
    marks = [line[-1].after.strip() for line in beep.lines]
    expected = [{".": 0.32, ",": 0.14, "": 0.03}[mark] for mark in marks[:-1]] + [0.1]
    assert pauses == pytest.approx(expected, abs=0.001)
    assert set(marks) == {".", ",", ""}


def test_slow_speech_is_cut_into_more_pieces(network: SpeechNetwork, phonemiser: Phonemiser) -> None:
    beep = Beep()
    request = SpeechRequest(text="They went along the river in the rain.", voice="beep", speed=0.5, seed=1)
    list(beeping(network, phonemiser, beep).speak(request, Uncontrolled()))
    assert len(beep.lines) == 2


def test_unloading_reaches_every_voice() -> None:
    beep = Beep()
    beeping(SpeechNetwork(), Phonemiser(), beep).unload()
    assert beep.unloaded == 1


def heard(model: HibariSpeech, request: SpeechRequest) -> list[Spoken]:
    """What is said, or nothing where the text is refused."""
    try:
        model.check(request)
        return list(model.speak(request, Uncontrolled()))
    except InvalidRequest as refusal:
        return [] if refusal.field == "text" else [Spoken(np.full((1, 1), np.nan, np.float32), ())]


TEXTS = st.text(max_size=40) | st.text(
    alphabet="aeiou tnrs 0123.,-'’$%:/AZ\"“”()&*_°½²ßéπ١你ж🙂\n", max_size=40
)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=TEXTS)
def test_any_text_is_either_said_or_refused(model: HibariSpeech, text: str) -> None:
    request = SpeechRequest.model_construct(text=text, voice="", speed=2.0, seed=1)
    spoken = heard(model, request)
    assert all(np.isfinite(piece.samples).all() and np.abs(piece.samples).max() <= 1 for piece in spoken)
    place = 0
    for word in words(spoken):
        place = text.find(word.text, place)
        assert place >= 0, word
