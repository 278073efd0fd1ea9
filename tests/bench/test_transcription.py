"""The rows of transcription, and its long files."""

from pathlib import Path

import numpy as np
import soundfile

from bench.transcription import BARE, PRODUCT, by_processor, rows, write_long

SAMPLES = {
    "length": [100.0],
    PRODUCT: [11.0, 12.5, 14.0],
    BARE: [25.0, 20.0, 30.0],
    by_processor(PRODUCT): [13.0],
    by_processor(BARE): [26.0],
    f"{PRODUCT}, word errors": [1.5],
    f"{BARE}, word errors": [2.5],
}
WEIGHED = {"short weight": 200.0, "long weight": 229.0, "long speed": 11.0, "short speed": 11.0}


def test_speed_errors_and_growth_are_held_against_their_bars() -> None:
    told = {row.name: row for row in rows(SAMPLES, WEIGHED)}
    assert told[PRODUCT].value == 12.5
    assert told["of the bare network's speed"].value == 0.5
    assert told["growth with the length"].value == 29.0
    assert not any(row.missed for row in told.values())
    heavy = rows(SAMPLES, WEIGHED | {"long weight": 231.0})
    assert [row.name for row in heavy if row.missed] == ["growth with the length"]


def test_a_long_file_says_the_same_again(tmp_path: Path) -> None:
    sound = np.linspace(0, 0.5, 100, dtype=np.float32)
    write_long(tmp_path / "long.wav", sound, 1000, 0.25)
    written, rate = soundfile.read(tmp_path / "long.wav")
    assert (len(written), rate) == (250, 1000)
    assert np.abs(written[200:] - sound[:50]).max() < 1e-3
