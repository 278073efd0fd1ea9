"""What an agent is told of complete jobs: the link, and the text where it is short enough to be read."""

import json
import os

import pytest

from engine.catalogue import Catalogue
from engine.transcription_request import read_transcription
from server.agents.sources import recording_of
from server.agents.states import moment
from server.agents.telling import SHOWN_BYTES, Telling
from server.transcription_operations import TranscriptionOperations
from server.work import Prepared
from tests.server.agents.office import BASE_URL, Office
from tests.server.agents.work import written
from tests.server.maker import Maker
from tests.server.sound_doubles import TranscriptionDouble


async def stored(office: Office, prepared: Prepared) -> str:
    """The id of an agent's job that has made this."""
    job_id = office.parts.agent_gate.admit(prepared, "", "").job_id
    await office.ended(job_id)
    return job_id


def test_a_complete_job_has_a_link_by_the_address_that_the_agent_came_by(office: Office) -> None:
    async def test() -> None:
        answer = await office.made("speak", text="One two.", title="Counting", output_format="opus")
        (link,) = answer.links
        entry = office.parts.book.entry(str(answer.told["job_id"]), "")
        assert link.url == f"{BASE_URL}{office.parts.links.path(entry)}"
        assert (link.name, link.mime_type, link.size_bytes) == (
            "counting.opus",
            "audio/ogg",
            entry.size_bytes,
        )
        told = answer.told
        assert (told["url"], told["file_name"], told["mime_type"]) == (link.url, link.name, link.mime_type)
        assert (told["size_bytes"], told["seconds"]) == (entry.size_bytes, entry.parts[0].seconds)
        assert entry.expires_at is not None
        assert answer.told["expires_at"] == moment(entry.expires_at)
        assert f"until {moment(entry.expires_at)} (in 59 minutes): " in answer.sentence
        assert answer.texts == ()
        assert "text" not in answer.told
        assert entry.id not in link.url + link.description

    office.run(test)


def test_a_score_is_given_to_be_read(office: Office) -> None:
    async def test() -> None:
        answer = await office.made("plan_score", style="folk", lyrics="[Verse]\nThe river runs")
        (text,) = answer.texts
        assert answer.told["text"] == text
        assert text.startswith("X:1")
        assert answer.told["mime_type"] == "text/vnd.abc"
        assert "preview_score" in answer.sentence

    office.run(test)


@pytest.mark.parametrize(
    ("form", "kind"), [("text", "text/plain"), ("json", "application/json"), ("vtt", "text/vtt")]
)
def test_a_transcript_is_given_to_be_read(office: Office, form: str, kind: str) -> None:
    async def test() -> None:
        spoken = (await office.made("speak", text="One two.")).told["job_id"]
        answer = await office.made("transcribe", job_id=spoken, format=form)
        (text,) = answer.texts
        assert "bytes:" in (json.loads(text)["text"] if form == "json" else text)
        assert (answer.told["text"], answer.told["mime_type"]) == (text, kind)

    office.run(test)


@pytest.mark.parametrize(("size", "is_shown"), [(SHOWN_BYTES, True), (SHOWN_BYTES + 1, False)])
def test_a_text_too_long_to_be_read_has_its_link_alone(office: Office, size: int, is_shown: bool) -> None:
    async def test() -> None:
        body = b"a" * size
        job_id = await stored(office, written(body, "transcript.srt", "application/x-subrip"))
        answer = await office.call("job_status", job_id=job_id)
        assert answer.texts == ((body.decode(),) if is_shown else ())
        assert ("text" in answer.told) == is_shown
        assert len(answer.links) == 1

    office.run(test)


def test_a_text_whose_file_is_gone_is_refused_as_what_it_is(office: Office) -> None:
    async def test() -> None:
        job_id = await stored(office, written(b"a", "score.abc", "text/vnd.abc"))
        for body in office.parts.settings.artifacts_directory.rglob("*"):
            if body.is_file() and body.read_bytes() == b"a":
                os.truncate(body, 0)
        told = await office.refused("job_status", job_id=job_id)
        assert told["code"] == "not_ready"
        assert "damaged; call the tool that began it again." in str(told["message"])
        office.parts.artifacts.delete(job_id)

    office.run(test)


def test_a_job_of_another_api_is_told_without_a_link(office: Office) -> None:
    async def test() -> None:
        maker = Maker()
        job_id = office.parts.gate.admit(maker.prepared(), "", "").job_id
        maker.finish()
        answer = await office.ended(job_id)
        assert (answer.told["state"], answer.links, answer.texts) == ("complete", (), ())
        assert f"{BASE_URL}/job?id={job_id}&track=0" in answer.sentence
        assert "url" not in answer.told

    office.run(test)


def test_a_transcript_of_another_api_is_fetched_as_its_result(office: Office) -> None:
    async def test() -> None:
        spoken = await office.made("speak", text="One two.")
        recording = await recording_of(str(spoken.told["job_id"]), "", office.parts.book, office.parts.limits)
        listening = TranscriptionOperations(Catalogue(transcription=[TranscriptionDouble()]))
        prepared = listening.transcribe(read_transcription({}), recording)
        job_id = office.parts.gate.admit(prepared, "", "").job_id
        assert (await office.ended(job_id)).sentence.endswith(f"/job?id={job_id}&result=1")

    office.run(test)


def test_a_failure_is_an_answer(office: Office) -> None:
    async def test() -> None:
        office.speech.between = _break
        job_id = await office.begun("speak", text="One.")
        answer = await office.ended(job_id)
        assert not answer.is_refused
        assert (answer.told["state"], answer.told["code"]) == ("failed", "engine_error")
        assert "RuntimeError" in str(answer.told["error"])
        assert "failed and made nothing" in answer.sentence
        assert not answer.links

    office.run(test)


def test_an_earlier_job_is_told_as_such(office: Office) -> None:
    async def test() -> None:
        job_id = await office.held()
        job = office.parts.book.describe(job_id, "")
        telling = Telling(office.desk_parts)
        answer = await telling.tell(job, office.visit(), replayed=True)
        assert answer.told["replayed"] is True
        assert answer.sentence.startswith("This idempotency_key was sent before, so no second job was begun.")
        assert "replayed" not in (await telling.tell(job, office.visit())).told

    office.run(test)


def _break(number: int) -> None:
    raise RuntimeError("the voice broke")
