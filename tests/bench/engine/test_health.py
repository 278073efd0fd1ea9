"""The server that sings while it is probed."""

from pathlib import Path

from bench.engine.checkpoints import Pair
from bench.engine.health import SINGING, environment
from bench.health import BUSY, answer_rows
from bench.probe import Probed
from server.settings import load


def test_the_server_is_told_of_the_checkpoints(pair: Pair, tmp_path: Path) -> None:
    settings = load(environment(pair, tmp_path))
    assert (settings.model, settings.vae, settings.device) == (pair.model, pair.vae, "cpu")
    assert settings.result_dir == tmp_path / "jobs"


def test_singing_is_held_to_the_bars() -> None:
    probed = Probed(0.0, 1.0, [1000.0], [0.5])
    assert any(row.missed for row in answer_rows(SINGING, [probed], SINGING))
    assert not any(row.missed for row in answer_rows(BUSY, [probed], SINGING))
