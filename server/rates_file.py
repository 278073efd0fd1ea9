"""Where learnt rates outlive the process: one small JSON file in the data folder."""

import logging
import os
from pathlib import Path

from server.jobs.rates import RateBook

_NAME = "rates.json"
_log = logging.getLogger(__name__)


def load_rates(folder: Path) -> RateBook:
    """The rates learnt by earlier processes; the priors where there are none or they cannot be read."""
    path = folder / _NAME
    try:
        return RateBook.from_json(path.read_bytes())
    except FileNotFoundError:
        return RateBook()
    except (OSError, ValueError) as error:
        _log.warning("%s cannot be read (%s); estimates start afresh", path, error)
        return RateBook()


def save_rates(rates: RateBook, folder: Path) -> None:
    """Replace the file as a whole. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    draft = folder / f".{_NAME}.{os.getpid()}"
    draft.write_text(rates.to_json(), encoding="utf-8")
    draft.replace(folder / _NAME)
