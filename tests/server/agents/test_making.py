"""Jobs of agents: one file, that opens, under a name that says nothing of the job."""

import io
import itertools
from collections.abc import Mapping
from typing import Final

import numpy as np
import pytest
import soundfile

from engine.audio import AudioForm, encode
from engine.catalogue import Catalogue
from engine.control import Uncontrolled
from engine.errors import InvalidRequest, MissingInput, ScoreError, UnknownModel
from engine.score import parse
from server.agents.arguments import RECORDING, read_arguments, read_as
from server.agents.making import AgentWork
from server.operations import Operations
from server.speech_operations import SpeechOperations
from server.transcription_operations import TranscriptionOperations
from server.work import Making, Packed, Prepared, Stopwatch
from storage.entry import JSON
from tests.server.sound_doubles import SpeechDouble, TranscriptionDouble

TUNE = "X:1\nM:4/4\nL:1/4\nQ:1/4=300\nK:C\nCDEF|\n"
JOB_ID: Final = "0123456789abcdef"
SUBTYPES = {"wav16": "PCM_16", "wav24": "PCM_24", "wav32": "FLOAT"}


@pytest.fixture(scope="module")
def work() -> AgentWork:
    catalogue = Catalogue(speech=[SpeechDouble()], transcription=[TranscriptionDouble()])
    draw = itertools.count(7).__next__
    return AgentWork(
        Operations(catalogue, draw), SpeechOperations(catalogue, draw), TranscriptionOperations(catalogue)
    )


def prepared(work: AgentWork, tool: str, **arguments: JSON) -> Prepared:
    return work.prepare(tool, read_arguments(tool, arguments))


def made(job: Prepared) -> tuple[Packed, bytes]:
    """What the job's work packs, and the whole body it wrote."""
    sink = io.BytesIO()
    packed = job.work(Making(JOB_ID, sink, Uncontrolled(), Stopwatch()))
    return packed, sink.getvalue()


def recording() -> io.BytesIO:
    sink = io.BytesIO()
    encode(
        np.zeros((8000, 1), np.float32), 8000, AudioForm("wav16", 128), sink, Uncontrolled().check_cancelled
    )
    sink.seek(0)
    return sink


@pytest.mark.parametrize(
    ("tool", "arguments", "name", "kind"),
    [
        ("create_song", {"abc": TUNE}, "song.mp3", "audio/mpeg"),
        ("create_song", {"abc": TUNE, "title": "Größe, hell"}, "grosse-hell.mp3", "audio/mpeg"),
        ("preview_score", {"abc": TUNE, "output_format": "wav16"}, "preview.wav", "audio/wav"),
        ("speak", {"text": "One two. Three."}, "speech.mp3", "audio/mpeg"),
        ("plan_score", {"style": "folk", "title": "../etc/passwd"}, "etc-passwd.abc", "text/vnd.abc"),
    ],
)
def test_a_body_is_one_file_from_end_to_end(
    work: AgentWork, tool: str, arguments: Mapping[str, JSON], name: str, kind: str
) -> None:
    packed, body = made(prepared(work, tool, **arguments))
    (part,) = packed.parts
    assert (packed.content_type, part.content_type, part.filename) == (kind, kind, name)
    assert (part.offset, part.length) == (0, len(body))
    assert JOB_ID not in part.filename
    assert JOB_ID.encode() not in body


@pytest.mark.parametrize("form", ["mp3", "opus", "flac", "wav16", "wav24", "wav32"])
@pytest.mark.parametrize(("tool", "asked"), [("create_song", {"abc": TUNE}), ("speak", {"text": "One two."})])
def test_every_format_opens(work: AgentWork, tool: str, asked: Mapping[str, JSON], form: str) -> None:
    packed, body = made(prepared(work, tool, **asked, output_format=form))
    with soundfile.SoundFile(io.BytesIO(body)) as sound:
        seconds = packed.parts[0].seconds
        assert seconds is not None
        assert sound.frames / sound.samplerate == pytest.approx(seconds, abs=0.1)
        assert sound.subtype == SUBTYPES.get(form, sound.subtype)


def test_a_planned_score_is_one_that_can_be_played(work: AgentWork) -> None:
    packed, body = made(prepared(work, "plan_score", style="folk", lyrics="[Verse]\nHello my friend"))
    assert parse(body.decode()).voices
    assert packed.parts[0].name == "score"


def test_a_song_tells_the_seeds_that_make_it_again(work: AgentWork) -> None:
    asked: Mapping[str, JSON] = {"style": "folk", "lyrics": "[Verse]\nHello my friend", "duration": 5}
    job = prepared(work, "create_song", **asked)
    note = next(note for note in job.notes if "lm_seed" in note)
    words = note.split()
    seeds = {name: int(words[words.index(name) + 1]) for name in ("lm_seed", "seed")}
    again = prepared(work, "create_song", **asked, **seeds)
    assert made(again)[1] == made(job)[1]
    assert note in again.notes


@pytest.mark.parametrize("tool", ["create_song", "preview_score"])
def test_a_song_of_a_score_has_one_seed_that_makes_it_again(work: AgentWork, tool: str) -> None:
    job = prepared(work, tool, abc=TUNE)
    note = next(note for note in job.notes if "seed" in note)
    assert "lm_seed" not in note
    words = note.split()
    again = prepared(work, tool, abc=TUNE, seed=int(words[words.index("seed") + 1]))
    assert made(again)[1] == made(job)[1]
    assert note in again.notes


def test_a_song_that_is_wanted_longer_than_it_can_be_is_noted_without_a_way_out(work: AgentWork) -> None:
    notes = prepared(work, "create_song", style="folk", lyrics="[Verse]\nHello", duration=1e9).notes
    assert "A song lasts at most 360 seconds here." in notes


def test_one_song_is_made_whatever_else_the_native_request_could_ask(work: AgentWork) -> None:
    packed, _ = made(prepared(work, "create_song", abc=TUNE))
    assert [part.track for part in packed.parts] == [0]


@pytest.mark.parametrize(
    ("form", "name", "kind", "begins"),
    [
        ("text", "transcript.txt", "text/plain; charset=utf-8", "bytes: "),
        ("json", "transcript.json", "application/json", '{"text": "bytes: '),
        ("srt", "transcript.srt", "application/x-subrip", "1\n00:00:00,000"),
        ("vtt", "transcript.vtt", "text/vtt; charset=utf-8", "WEBVTT\n"),
    ],
)
def test_a_transcript_is_in_the_one_form_asked_for(
    work: AgentWork, form: str, name: str, kind: str, begins: str
) -> None:
    asked = read_arguments("transcribe", {"job_id": "j", "format": form})
    packed, body = made(work.transcribe(asked, recording()))
    (part,) = packed.parts
    assert (part.filename, part.content_type, packed.content_type) == (name, kind, kind)
    assert (part.offset, part.length) == (0, len(body))
    assert body.decode().startswith(begins)
    assert packed.notes == ("The language was guessed.",)


def test_a_recording_that_is_sent_is_written_down_alike(work: AgentWork) -> None:
    sent = read_as(RECORDING, "transcribe", {"language": "de", "format": "srt", "title": "Talk"})
    packed, _ = made(work.transcribe(sent, recording()))
    assert packed.parts[0].filename == "talk.srt"


def test_a_transcript_alone_offers_nothing_to_follow(work: AgentWork) -> None:
    assert work.transcribe(read_arguments("transcribe", {"job_id": "j"}), recording()).followed == ""


def test_another_name_or_form_is_another_request(work: AgentWork) -> None:
    digests = {
        prepared(work, "create_song", abc=TUNE).digest,
        prepared(work, "create_song", abc=TUNE, title="a").digest,
        prepared(work, "create_song", abc=TUNE, output_format="flac").digest,
        prepared(work, "preview_score", abc=TUNE).digest,
        *(
            work.transcribe(read_arguments("transcribe", {"job_id": "j", "format": form}), recording()).digest
            for form in ("text", "json")
        ),
    }
    assert len(digests) == 6


def test_the_same_request_has_the_same_digest_whichever_key_it_brings(work: AgentWork) -> None:
    first, second = (prepared(work, "create_song", abc=TUNE, idempotency_key=key) for key in ("a", "b"))
    assert first.digest == second.digest


@pytest.mark.parametrize(
    ("tool", "arguments", "error"),
    [
        ("create_song", {}, MissingInput),
        ("create_song", {"style": 5}, InvalidRequest),
        ("create_song", {"style": "folk", "duration": "90"}, InvalidRequest),
        ("create_song", {"style": "folk", "model": "none"}, UnknownModel),
        ("create_song", {"abc": "no score"}, ScoreError),
        ("create_song", {"abc": TUNE, "cot": "off"}, InvalidRequest),
        ("plan_score", {"style": "folk", "cot": "off"}, InvalidRequest),
        ("preview_score", {"abc": TUNE, "from_bar": 9}, InvalidRequest),
        ("speak", {}, MissingInput),
        ("speak", {"text": "a", "voice": "nobody"}, InvalidRequest),
    ],
)
def test_what_cannot_be_made_is_refused_before_there_is_a_job(
    work: AgentWork, tool: str, arguments: Mapping[str, JSON], error: type[Exception]
) -> None:
    with pytest.raises(error):
        prepared(work, tool, **arguments)


def test_a_transcription_is_checked_before_its_recording_is_read(work: AgentWork) -> None:
    with pytest.raises(InvalidRequest, match="language"):
        work.check_transcription(read_arguments("transcribe", {"job_id": "j", "language": "xx"}))


def test_a_score_without_words_and_style_is_not_asked_for_itself(work: AgentWork) -> None:
    with pytest.raises(MissingInput, match="Send a style or lyrics; both are blank"):
        prepared(work, "plan_score", style=" ", lyrics="\n")


@pytest.mark.parametrize("tool", ["create_song", "preview_score"])
def test_a_score_that_miscounts_is_noted(work: AgentWork, tool: str) -> None:
    score = "X:1\nM:4/4\nL:1/4\nK:C\nV: Vocal\nV: Ins\nV: Vocal\nC4 C/2|\nV: Ins\nZ|\n"
    assert any("bar 1" in note for note in prepared(work, tool, abc=score).notes)


def test_speech_tells_the_seed_that_says_it_again(work: AgentWork) -> None:
    job = prepared(work, "speak", text="One two.", output_format="wav32")
    (note,) = job.notes
    seed = int(note.removeprefix("Spoken with seed ").partition(":")[0])
    again = prepared(work, "speak", text="One two.", output_format="wav32", seed=seed)
    assert made(again)[1] == made(job)[1]
    assert again.notes == job.notes


def test_a_drawn_score_tells_its_seed(work: AgentWork) -> None:
    job = prepared(work, "plan_score", style="folk")
    seed = int(job.notes[-1].rpartition(" ")[2].rstrip("."))
    assert made(prepared(work, "plan_score", style="folk", lm_seed=seed))[1] == made(job)[1]


def test_the_band_plays_the_bars_asked_for(work: AgentWork) -> None:
    whole, part = (
        made(prepared(work, "preview_score", abc=f"{TUNE}GABc|\n", seed=1, lm_seed=1, **bars))[0]
        .parts[0]
        .seconds
        for bars in ({}, {"from_bar": 2, "bars": 1})
    )
    assert whole is not None
    assert part is not None
    assert part < whole


def test_audio_of_a_job_that_cannot_be_heard_is_told_of_the_job(work: AgentWork) -> None:
    named, sent = read_arguments("transcribe", {"job_id": "j"}), read_as(RECORDING, "transcribe", {})
    for arguments, field in ((named, "job_id"), (sent, "audio")):
        with pytest.raises(InvalidRequest) as raised:
            work.transcribe(arguments, io.BytesIO(b"no sound"))
        assert raised.value.field == field


def test_the_engines_own_sentences_say_what_to_change(work: AgentWork) -> None:
    with pytest.raises(InvalidRequest, match='duration must be a number; you sent "90"') as raised:
        prepared(work, "create_song", style="folk", duration="90")
    assert raised.value.field == "duration"
    with pytest.raises(InvalidRequest, match="style must have at most 4000 characters; you sent 1000000"):
        prepared(work, "create_song", style="x" * 10**6)
