"""Where learnt rates outlive the process: one small JSON file in the data folder."""

import logging
from pathlib import Path

from server.jobs.rates import RateBook

_NAME = "rates.json"
# Seconds for each second of audio on a 2-core machine; only until this machine's own are measured.
PRIORS = {("sketch", "composing"): 0.0005, ("sketch", "rendering"): 0.03, ("sketch", "encoding"): 0.011}
_log = logging.getLogger(__name__)


def load_rates(folder: Path) -> RateBook:
    """The rates learnt by earlier processes; the priors where there are none or they cannot be read."""
    path = folder / _NAME
    try:
        return RateBook.from_json(path.read_bytes(), PRIORS)
    except FileNotFoundError:
        return RateBook(PRIORS)
    except (OSError, ValueError) as error:
        _log.warning("%s cannot be read (%s); estimates start afresh", path, error)
        return RateBook(PRIORS)


def save_rates(rates: RateBook, folder: Path) -> None:
    """Replace the file as a whole, where anything was learnt since. Raises OSError."""
    path, text = folder / _NAME, rates.to_json()
    if path.exists() and path.read_text(encoding="utf-8", errors="replace") == text:
        return
    folder.mkdir(parents=True, exist_ok=True)
    draft = path.with_suffix(".new")
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)
