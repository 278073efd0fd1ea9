"""What models there are and how busy the server is, for programs and in words."""

from engine.catalogue import Catalogue, open_catalogue
from server.agents.answer import ToolAnswer
from server.agents.listing import HOW_TO_GET_VOICES, HOW_TO_GET_YUE2, list_models, server_status
from server.limits import AGENT_JOBS
from server.status import StatusBoard
from storage.entry import JSON
from tests.server.agents.office import Office
from tests.server.agents.work import written
from tests.server.maker import Maker
from tests.server.sound_doubles import SpeechDouble, TranscriptionDouble
from tests.server.yue2_double import Yue2Double


def by_id(answer: ToolAnswer) -> dict[str, dict[str, JSON]]:
    models = answer.told["models"]
    assert isinstance(models, list)
    return {str(model["id"]): model for model in models if isinstance(model, dict)}


def test_models_are_told_by_kind_with_their_tools_and_voices() -> None:
    answer = list_models(open_catalogue(None))
    models = by_id(answer)
    assert {id: model["kind"] for id, model in models.items()} == {
        "sketch": "song",
        "hibari": "speech",
        "whisper-tiny.en": "transcription",
    }
    assert models["sketch"]["tools"] == ["create_song", "plan_score", "preview_score"]
    assert models["hibari"]["default_for"] == ["speak"]
    assert models["hibari"]["voices"] == [
        {"id": "heart", "name": "Heart", "language": "en-US", "gender": "female"}
    ]
    assert models["whisper-tiny.en"]["tasks"] == ["transcribe"]
    assert answer.told["default_models"] == {
        "create_song": "sketch",
        "plan_score": "sketch",
        "preview_score": "sketch",
        "speak": "hibari",
        "transcribe": "whisper-tiny.en",
    }


def test_the_sentence_has_all_that_a_call_needs() -> None:
    answer = list_models(open_catalogue(None))
    for part in ("- sketch (song; for create_song", "Voices: heart (Heart, en-US, female).", "wav24", "vtt"):
        assert part in answer.sentence
    assert all(str(model["description"]) in answer.sentence for model in by_id(answer).values())


def test_what_could_be_had_besides_is_told() -> None:
    answer = list_models(open_catalogue(None))
    assert answer.told["hints"] == [HOW_TO_GET_YUE2, HOW_TO_GET_VOICES]
    assert HOW_TO_GET_YUE2 in answer.sentence


def test_with_the_real_model_and_voices_nothing_is_advised() -> None:
    class Many(SpeechDouble):
        def describe(self) -> dict[str, JSON]:
            return {**super().describe(), "voices": [{"id": "one"}, {"id": "two"}]}

    answer = list_models(Catalogue(yue2=Yue2Double(), speech=[Many()], transcription=[TranscriptionDouble()]))
    models = by_id(answer)
    assert answer.told["hints"] == []
    assert models["yue2"]["kind"] == "song"
    assert models["yue2"]["tools"] == ["create_song", "plan_score"]  # none for its codec
    assert models["sketch"]["default_for"] == ["preview_score"]
    assert "Voices: one; two." in answer.sentence


def test_an_idle_server_says_that_a_job_would_start_at_once(office: Office) -> None:
    answer = server_status(office.parts.board)
    told = answer.told
    assert (told["accepting"], told["free_places"], told["backlog_seconds"]) == (True, 8, 0.0)
    assert "8 more jobs can be begun now; the first would start at once." in answer.sentence
    assert "0 of 128 files, 0 bytes of 2 GiB are there." in answer.sentence
    assert isinstance(told["queue"], dict)
    assert isinstance(told["agents"], dict)
    assert (told["queue"]["limit"], told["agents"]["limit"]) == (12, AGENT_JOBS)


def test_a_busy_one_tells_how_long_and_how_many_and_never_whose(office: Office) -> None:
    async def test() -> None:
        job_id = await office.held()
        office.parts.gate.admit(written(), "somebody", "")
        answer = await office.call("server_status")
        told = answer.told
        assert (told["accepting"], told["free_places"]) == (True, 7)
        assert isinstance(told["backlog_seconds"], float)
        assert "at once" not in answer.sentence
        assert (
            "2 of 12 places of the queue are taken, and 1 of the 8 that agents may have." in answer.sentence
        )
        assert not any(word in str(answer) for word in (job_id, "One. Two.", "somebody"))

    office.run(test)


def test_jobs_that_are_as_good_as_done_are_still_waited_for(office: Office) -> None:
    class Short(StatusBoard):
        def backlog_seconds(self) -> float:
            return 0.0

    async def test() -> None:
        await office.held()
        parts = office.parts
        answer = server_status(Short(parts.queue, parts.store, parts.artifacts, parts.limits))
        assert "the first would start within moments." in answer.sentence

    office.run(test)


def test_the_agents_own_places_bound_what_is_free(office: Office) -> None:
    async def test() -> None:
        await office.held()
        for number in range(AGENT_JOBS - 2):
            await office.begun("speak", text=f"{number}.")
        assert "1 more job can be begun now" in (await office.call("server_status")).sentence
        await office.begun("speak", text="Last.")
        answer = await office.call("server_status")
        assert (answer.told["accepting"], answer.told["free_places"]) == (False, 0)
        assert "wait at least 5 seconds" in answer.sentence

    office.run(test)


def test_so_do_all_places(office: Office) -> None:
    async def test() -> None:
        maker = Maker()
        for _ in range(11):
            office.parts.gate.admit(maker.prepared(), "", "")
        assert (await office.told("server_status"))["free_places"] == 1
        for _ in range(11):
            maker.finish()

    office.run(test)


def test_a_full_store_is_told(office: Office) -> None:
    class Full(StatusBoard):
        def agents(self) -> dict[str, JSON]:
            return {**super().agents(), "full": True}

    parts = office.parts
    answer = server_status(Full(parts.queue, parts.store, parts.artifacts, parts.limits))
    assert answer.told["accepting"] is False
    assert "no room for another result until the oldest expires" in answer.sentence


def test_a_closed_server_takes_nothing(office: Office) -> None:
    office.parts.book.close()
    answer = server_status(office.parts.board)
    assert (answer.told["accepting"], answer.told["free_places"]) == (False, 0)
