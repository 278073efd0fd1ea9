"""The tools that an agent sees: names, descriptions and hints. What they take lies in `arguments`.

A description is all that an agent knows before its first call, so each says what comes back and what to call next.
"""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class ToolCard:
    """How one tool is listed; the hints are those of MCP, for clients that ask a person before some calls."""

    name: str
    title: str
    description: str
    read_only: bool = False  # changes nothing
    destructive: bool = False  # may undo or remove something
    idempotent: bool = False  # the same call again changes nothing more
    open_world: bool = False  # reaches out of this server


INSTRUCTIONS: Final = "Makes songs, scores, speech and transcripts on a local server."

TOOLS: Final = (
    ToolCard("create_song", "Make a song", "Makes a song of style and lyrics."),
    ToolCard("plan_score", "Write a score", "Writes the score of a song."),
    ToolCard("preview_score", "Preview a score", "Plays a score."),
    ToolCard("speak", "Read text aloud", "Reads text aloud."),
    ToolCard("transcribe", "Write down a recording", "Writes down what a finished job sings or says."),
    ToolCard("job_status", "Wait for a job", "Tells how a job is.", read_only=True, idempotent=True),
    ToolCard("cancel_job", "Cancel a job", "Cancels a job.", destructive=True, idempotent=True),
    ToolCard("list_models", "List models", "Lists models and voices.", read_only=True, idempotent=True),
    ToolCard("server_status", "Server status", "Tells how busy it is.", read_only=True, idempotent=True),
    ToolCard("writing_guide", "Writing guide", "Reads a guide.", read_only=True, idempotent=True),
)
