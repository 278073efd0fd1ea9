"""The whole program at toy size: what is measured is there and positive; no time is judged."""

import json
from pathlib import Path

import pytest

from bench import report
from bench.engine import __main__ as program
from bench.engine.options import Options, Size
from bench.engine.song import PHASES, song_rows

EXPECTED = {
    "copy",
    "read",
    "floor",
    "step",
    "products alone",
    "naive step",
    "evaluation",
    "evaluation, floor",
    "naive evaluation",
    "prefill of 5",
    "prefill of 5, floor: its products and attention alone",
    "prefill of 5, naive",
    "codec",
    "codec, floor",
}


def test_the_program_measures_and_keeps_everything(
    toy: Size, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = Options(
        toy, context=20, frames=4, steps=1, rounds=2, prefills=(5,), vae_frames=2, copied_bytes=4096
    )
    monkeypatch.setattr(report, "RESULTS", tmp_path)
    monkeypatch.setattr(program, "read_options", lambda: options)
    monkeypatch.setattr(program, "measure_song", lambda pair, options: ([], {"song: sound": [1.0]}))
    assert program.main() == 0
    assert "decode step above its floor" in capsys.readouterr().out
    (kept,) = tmp_path.glob("engine-*.json")
    samples = json.loads(kept.read_text())["samples"]
    assert samples.keys() == EXPECTED | {"song: sound"}
    assert all(value > 0 for values in samples.values() for value in values)
    assert len(samples["step"]) == len(samples["floor"]) == options.rounds


def test_a_song_is_told_without_its_loading() -> None:
    told = dict.fromkeys(PHASES, 2.0) | {"opening": 1.0, "sound": 4.0, "peak": 300.0, "needed": 200.0}
    rows = {row.name: row.value for row in song_rows(told, 60.0, Options())}
    assert rows["loading"] == 3.0
    assert rows["loading, files by time"] == 20.0
    assert rows["song, a second of sound"] == 2.0
    assert rows["song, share of acoustic"] == 0.25
    assert rows["song, most memory above weights and cache"] == 1.5
