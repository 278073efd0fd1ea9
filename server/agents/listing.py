"""What there is to work with: models and voices, and how busy the server is."""

from collections.abc import Iterable, Mapping
from typing import Final

from pydantic import JsonValue

from engine.audio import FORMATS
from engine.catalogue import YUE2, Catalogue
from server.agents.answer import ToolAnswer
from server.agents.arguments import TRANSCRIPT_FORMATS
from server.agents.artifacts import ARTIFACT_SECONDS
from server.agents.states import in_about, size_of
from server.errors import RETRY_AFTER_SECONDS
from server.status import StatusBoard
from storage.entry import JSON

HOW_TO_GET_YUE2: Final = (
    "This server makes songs with its built-in band alone: a synthetic voice over sampled instruments. For songs by the "
    "model YuE2 (an NVIDIA card with 8 GB or more, or patience), whoever runs the server fetches its weights (7.8 GB) with "
    "./task pull, sets YUE2_MODEL and YUE2_VAE to their two folders and restarts it; nothing an agent calls can do that."
)
HOW_TO_GET_VOICES: Final = (
    "Further voices (26.9 MB) come with ./task voices and a restart, which whoever runs the server has to do."
)
_TOOLS: Final[Mapping[str, str]] = {
    "synth": "create_song",
    "plan": "plan_score",
    "sketch": "preview_score",
    "speech": "speak",
    "transcribe": "transcribe",
}
_KINDS: Final = ("speech", "transcription")  # any other kind makes songs
_VOICE: Final = ("id", "name", "language", "gender")
_SOUNDS: Final = "mp3 and opus are small, flac is lossless, wav16, wav24 and wav32 are not compressed"


def list_models(catalogue: Catalogue) -> ToolAnswer:
    """Every model with the tools that take it; the same while the server runs."""
    defaults = {_TOOLS[operation]: id for operation, id in catalogue.default_ids.items()}
    models = [_model(described, defaults) for described in catalogue.describe()]
    hints = list(_hints(models))
    told_models: list[JSON] = list(models)
    told_hints: list[JSON] = list(hints)
    told_defaults: dict[str, JSON] = dict(defaults)
    told: dict[str, JSON] = {
        "models": told_models,
        "default_models": told_defaults,
        "output_formats": list(FORMATS),
        "transcript_formats": list(TRANSCRIPT_FORMATS),
        "hints": told_hints,
    }
    lines = [
        "Leave model out to have the default of each tool; name another by its id.",
        *map(_line, models),
        f"Formats of songs, previews and speech (output_format): {_SOUNDS}.",
        f"Formats of transcripts (format): {', '.join(TRANSCRIPT_FORMATS)}.",
        *hints,
    ]
    return ToolAnswer(told, "\n".join(lines))


def _model(described: Mapping[str, JsonValue], defaults: Mapping[str, str]) -> dict[str, JSON]:
    id, kind, operations = str(described["id"]), str(described["kind"]), described["operations"]
    tools: list[JSON] = [_TOOLS[operation] for operation in _words(operations) if operation in _TOOLS]
    default_for: list[JSON] = [tool for tool in tools if defaults.get(str(tool)) == id]
    languages: list[JSON] = list(_words(described.get("languages")))
    model: dict[str, JSON] = {
        "id": id,
        "kind": kind if kind in _KINDS else "song",
        "description": str(described.get("description", "")),
        "tools": tools,
        "default_for": default_for,
        "languages": languages,
    }
    voices = described.get("voices")
    if isinstance(voices, list):
        model["voices"] = [
            {name: voice.get(name) for name in _VOICE} for voice in voices if isinstance(voice, dict)
        ]
    if "tasks" in described:
        tasks: list[JSON] = list(_words(described["tasks"]))
        model["tasks"] = tasks
    return model


def _words(value: JsonValue) -> Iterable[str]:
    return map(str, value) if isinstance(value, list) else ()


def _line(model: Mapping[str, JSON]) -> str:
    """A model in a sentence or two, with its voices."""
    chosen = f"; the default of {_listed(model['default_for'])}" if model["default_for"] else ""
    line = (
        f"- {model['id']} ({model['kind']}; for {_listed(model['tools'])}{chosen}; languages: "
        f"{_listed(model['languages'])}): {model['description']}"
    )
    voices = model.get("voices")
    return f"{line} Voices: {'; '.join(map(_voice, voices))}." if isinstance(voices, list) else line


def _voice(voice: JSON) -> str:
    told = voice if isinstance(voice, dict) else {}
    known = ", ".join(str(told[name]) for name in _VOICE[1:] if told.get(name))
    return f"{told.get('id')} ({known})" if known else str(told.get("id"))


def _listed(words: JSON) -> str:
    return ", ".join(map(str, words)) if isinstance(words, list) else ""


def _hints(models: list[dict[str, JSON]]) -> Iterable[str]:
    """What could be had besides, and how."""
    if all(model["id"] != YUE2 for model in models):
        yield HOW_TO_GET_YUE2
    if sum(len(voices) for model in models if isinstance(voices := model.get("voices"), list)) == 1:
        yield HOW_TO_GET_VOICES


def server_status(board: StatusBoard) -> ToolAnswer:
    """How much room there is for another job and for what it makes; never whose jobs there are, or of what."""
    queue, agents = board.queue(), board.agents()
    free = max(0, min(_count(queue, "available"), _count(agents, "limit") - _count(agents, "pending")))
    accepting = bool(queue["accepting"]) and free > 0 and not agents["full"]
    backlog = board.backlog_seconds()
    told: dict[str, JSON] = {
        "accepting": accepting,
        "free_places": free if queue["accepting"] else 0,
        "backlog_seconds": backlog,
        "retry_after_seconds": RETRY_AFTER_SECONDS,
        "queue": {
            name: queue[name]
            for name in ("limit", "pending", "active", "queued", "available", "active_operation")
        },
        "agents": agents,
        "worker": board.worker(),
    }
    return ToolAnswer(told, " ".join(_busy(queue, agents, free, backlog)))


def _busy(queue: Mapping[str, JSON], agents: Mapping[str, JSON], free: int, backlog: float) -> Iterable[str]:
    yield (
        f"{queue['pending']} of {queue['limit']} places of the queue are taken, and {agents['pending']} of the "
        f"{agents['limit']} that agents may have."
    )
    if queue["accepting"] and free and not agents["full"]:
        yield (
            f"{free} more {'job' if free == 1 else 'jobs'} can be begun now; the first would start "
            f"{in_about(backlog) if queue['pending'] else 'at once'}."
        )
    elif agents["full"]:
        yield "There is no room for another result until the oldest expires, so no job is taken now."
    else:
        yield f"No job is taken now; wait at least {RETRY_AFTER_SECONDS} seconds and ask again."
    yield (
        f"Results of agents are kept for {ARTIFACT_SECONDS // 60} minutes: {agents['files']} of {agents['limit_files']} "
        f"files, {size_of(_count(agents, 'bytes'))} of {size_of(_count(agents, 'limit_bytes'))} are there."
    )


def _count(counts: Mapping[str, JSON], name: str) -> int:
    value = counts[name]
    return value if isinstance(value, int) else 0
