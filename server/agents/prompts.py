"""Prompts that a person picks in a client: how an agent is asked to write a whole song."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from engine.sketch.genres import GENRES
from engine.sketch.vocabulary import MOODS
from server.agents.errors import UnsuitablePrompt

__all__ = ["PROMPTS", "PromptArgument", "PromptCard", "UnsuitablePrompt", "completions", "prompt_text"]

MOST_COMPLETIONS: Final = 100  # that MCP lets one answer hold


@dataclass(frozen=True, slots=True)
class PromptArgument:
    """A word or sentence that the person fills in."""

    name: str
    description: str
    required: bool = False


@dataclass(frozen=True, slots=True)
class PromptCard:
    """How one prompt is listed."""

    name: str
    title: str
    description: str
    arguments: tuple[PromptArgument, ...]


_GENRE_WORDS: Final = tuple(dict.fromkeys([g.name for g in GENRES] + [w for g in GENRES for w in g.words]))
_MOOD_WORDS: Final = tuple(dict.fromkeys([*MOODS, *(word for _, words in MOODS.values() for word in words)]))

_STEPS: Final = """

1. Call writing_guide with topic lyrics, and with topic style, unless you have read them already.
2. Write a style of four to eight tags: genre, mood, tempo in BPM, two to four instruments, the kind of voice. Write lyrics \
with two verses, a chorus that comes at least twice, and a bridge: a heading such as [Verse] or [Chorus] alone on a line \
before each section, lines of four to eight syllables, nothing in them that is not sung. Use images of your own rather \
than common phrases.
3. Show me the style and the lyrics, then call create_song with style, lyrics and title.
4. Call job_status with the job_id and wait_seconds 45, again until state is complete. If it failed, tell me why and \
mend what can be mended.
5. Give me the link as it is, say that it works for one hour, and repeat the notes on seeds, so that we can go on from \
here: another tune with another lm_seed, or changes note by note through plan_score and preview_score."""

PROMPTS: Final = (
    PromptCard(
        "write_song",
        "Write a song",
        "Write lyrics and a style on a topic, have the song sung, and hand over the link to it.",
        (
            PromptArgument("topic", "What the song is about.", required=True),
            PromptArgument("mood", "How it should feel, such as happy or melancholic."),
            PromptArgument("genre", "What kind of song it is, such as folk or jazz."),
        ),
    ),
)


def prompt_text(name: str, arguments: Mapping[str, str]) -> str:
    """What the agent is asked, as a message of the person's. Raises UnsuitablePrompt."""
    card = next((card for card in PROMPTS if card.name == name), None)
    if card is None:
        raise UnsuitablePrompt(f"There is no prompt {name[:80]!r}; there is {PROMPTS[0].name}.")
    known = {argument.name for argument in card.arguments}
    unknown = sorted(arguments.keys() - known)
    if unknown:
        raise UnsuitablePrompt(f"The prompt {name} has no argument {unknown[0][:80]!r}; leave it out.")
    if not arguments.get("topic", "").strip():
        raise UnsuitablePrompt(f"Send the argument topic with the prompt {name}: what the song is about.")
    return _write_song(**{argument: text.strip() for argument, text in arguments.items()})


def _write_song(topic: str, mood: str = "", genre: str = "") -> str:
    wanted = [f"Write a song about this and have it made: {topic}"]
    wanted += [f"It should feel {mood}."] if mood else []
    wanted += [f"The genre is {genre}."] if genre else []
    return "\n".join(wanted) + _STEPS


def completions(argument: str, value: str) -> tuple[str, ...]:
    """What `value` may become as that argument of a prompt: words that the band knows, those that begin with it first."""
    words = {"genre": _GENRE_WORDS, "mood": _MOOD_WORDS}.get(argument, ())
    wanted = value.strip().lower()
    beginning = [word for word in words if word.startswith(wanted)]
    within = [word for word in words if wanted in word and not word.startswith(wanted)]
    return tuple(beginning + within)[:MOST_COMPLETIONS]
