"""Where learnt rates outlive the process: one small JSON file in the data folder."""

import logging
from pathlib import Path

from server.jobs.rates import RateBook

_NAME = "rates.json"
# Priors count only until this machine's own speed is measured. The band's are seconds for each second of audio on a
# 2-core machine.
_SKETCH = {"composing": 0.0005, "singing": 0.015, "rendering": 0.03, "encoding": 0.011}
# Of the voice that comes along seconds for each character, of the listener for each second of audio, on one core.
_SOUND = {("hibari heart", "speaking"): 0.0012, ("whisper-tiny.en cpu int8", "listening"): 0.08}
# Those of YuE2: seconds for each GiB, token or second of audio; rough, after the arithmetic and the bytes that each
# takes, for a card of 100 TFLOP/s and for a few processor cores.
_YUE2 = {
    "cuda": {
        "loading": 1.0,
        "score": 0.008,
        "semantic": 0.008,
        "acoustic": 0.15,
        "decoding": 0.03,
        "analysing": 0.03,
        "encoding": 0.011,
    },
    "cpu": {
        "loading": 2.0,
        "score": 0.4,
        "semantic": 0.35,
        "acoustic": 60.0,
        "decoding": 2.0,
        "analysing": 1.0,
        "encoding": 0.011,
    },
}
_PRECISIONS = ("bf16", "fp16", "fp32")
_SONGS = {("sketch", phase): rate for phase, rate in _SKETCH.items()} | {
    (f"yue2 {device} {precision}", phase): rate
    for device, rates in _YUE2.items()
    for precision in _PRECISIONS
    for phase, rate in rates.items()
}
PRIORS = _SONGS | _SOUND
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
