"""Work for a voice: text into speech, sentence by sentence."""

import io
import json
from collections.abc import Callable, Iterator
from functools import partial
from typing import Final

from engine.audio import AudioForm
from engine.catalogue import Catalogue
from engine.request import DRAWN_SEED_LIMIT
from engine.speech_model import SpeechModel, Spoken
from engine.speech_request import SpeechRequest
from engine.words import Word, words_as_json
from server.speech_writing import write_speech
from server.work import (
    Making,
    Packed,
    Prepared,
    alone_fields,
    digest_of,
    form_fields,
    form_of,
    native_fields,
    stages_of,
)
from storage.entry import JSON, Part

_OPERATION: Final = "speech"


class SpeechOperations:
    """Checks what is to be said and says what work it means."""

    def __init__(self, catalogue: Catalogue, draw_seed: Callable[[], int]) -> None:
        self._catalogue = catalogue
        self._draw_seed = draw_seed

    def speech(self, asked: SpeechRequest, form: AudioForm | None = None, alone: str = "") -> Prepared:
        """Text into audio and the times of its words, in another form than the request's own where one is given.

        As the file named `alone`, the audio and nothing beside it. Raises UnknownModel, InvalidRequest.
        """
        model = self._catalogue.speech(asked.model)
        model.check(asked)
        named = {} if form is None else native_fields(form)
        asked = asked.model_copy(
            update={"model": model.id, "voice": asked.voice or model.default_voice, **named}
        )
        written = form or form_of(asked)
        written.check(model.sample_rate_hz)
        request = asked
        if asked.seed < 0:
            request = asked.model_copy(update={"seed": self._draw_seed() % DRAWN_SEED_LIMIT})
        return Prepared(
            operation=_OPERATION,
            model=model.id,
            stages=stages_of(model.stages(request)),
            digest=digest_of(_OPERATION, asked.model_dump() | form_fields(form) | alone_fields(alone)),
            work=lambda making: _write_speech(model, request, written, making, alone),
            rates_id=f"{model.id} {request.voice}",  # one voice may be much slower than another
            followed=written.content_type,
            notes=(*model.notes(request), *_seed(request, alone)),
        )


def _seed(request: SpeechRequest, alone: str) -> tuple[str, ...]:
    """The seed of speech that comes without the replay that would tell it."""
    return (
        (f"Spoken with seed {request.seed}: the same request with it says the same again.",) if alone else ()
    )


def _write_speech(
    model: SpeechModel, request: SpeechRequest, form: AudioForm, making: Making, alone: str
) -> Packed:
    """Encode each sentence as soon as it is made; the words, known with the last one, follow the audio."""
    control, sink = making.control, making.sink
    sentences = iter(partial(_next, model.speak(request, control), making), None)
    voiced = write_speech(sentences, model.sample_rate_hz, form, sink, control.check_cancelled, making.offer)
    seconds, length = voiced.seconds, sink.seek(0, io.SEEK_END)
    kind, stem = form.content_type, making.job_id
    parts = [Part("audio", 0, kind, 0, length, seconds, alone or f"{stem}.{form.extension}")]
    if not alone:
        replay = _replay(request, voiced.words)
        sink.write(replay)
        parts.append(Part("replay", 0, "application/json", length, len(replay), None, f"{stem}.json"))
    metrics: dict[str, JSON] = {"audio_seconds": round(seconds, 3), "characters": len(request.text)}
    return Packed(kind, tuple(parts), metrics=metrics)


def _next(sentences: Iterator[Spoken], making: Making) -> Spoken | None:
    with making.stopwatch.pipeline():
        return next(sentences, None)


def _replay(request: SpeechRequest, words: tuple[Word, ...]) -> bytes:
    """The request that gives this speech again, with what it was found to hold."""
    fields = request.model_dump(mode="json") | {"words": words_as_json(words)}
    return json.dumps(fields, ensure_ascii=False).encode()
