"""The store of what agents' jobs make: one file a job, kept for an hour and behind a link without a key."""

from collections.abc import Callable
from typing import Final

from server.settings import MAX_FILE_BYTES, Settings
from storage.budget import Budget
from storage.store import ResultStore

MAX_ARTIFACTS: Final = 128
MAX_ARTIFACTS_BYTES: Final = 2 * 1024**3
ARTIFACT_SECONDS: Final = 3600
ARTIFACTS_ADVICE: Final = "wait until the oldest expires: what agents make is kept for an hour, in no more files and bytes than that."


def open_artifacts(
    settings: Settings, clock: Callable[[], float], notify: Callable[[str], object]
) -> ResultStore:
    """The store, yet to be recovered; `notify` is called as its `on_growth`."""
    budget = Budget(MAX_ARTIFACTS_BYTES, MAX_ARTIFACTS, MAX_FILE_BYTES, ARTIFACTS_ADVICE)
    return ResultStore(settings.artifacts_directory, budget, ARTIFACT_SECONDS, clock, notify)
