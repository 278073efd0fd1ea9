"""The examples in what agents are told: calls as JSON objects, and the names that stand in the text."""

import json
import re

from server.agents.arguments import INPUTS
from server.agents.tools import TOOLS
from storage.entry import JSON

# Of answers and refusals, for the text may name them as well.
_ANSWERED_FIELDS = {
    "job_id",
    "state",
    "queue_position",
    "eta_seconds",
    "phase",
    "progress",
    "notes",
    "code",
    "error",
}
_ANSWERED_FILE = {"url", "file_name", "size_bytes", "expires_at"}
CODES = frozenset({"queue_full", "result_store_full", "invalid_score"})
ANSWERED = _ANSWERED_FIELDS | _ANSWERED_FILE | CODES


def calls(text: str) -> list[dict[str, JSON]]:
    """The JSON objects that begin a line or stand after `Example: `."""
    decoder = json.JSONDecoder()
    begins = re.finditer(r"^(?:Example: )?(?=\{)", text, re.MULTILINE)
    return [decoder.raw_decode(text, begin.end())[0] for begin in begins]


def unknown_names(text: str) -> set[str]:
    """Names with an underscore that are no tool's, no argument's and no answer's."""
    known = {tool.name for tool in TOOLS} | ANSWERED
    known |= {name for inputs in INPUTS.values() for name in inputs.names}
    return set(re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", text)) - known
