"""docs/operations.md names only metrics that the server gives and settings files that fit the script."""

import re
from pathlib import Path

import pytest
import torch

from engine.yue2.files.config import ModelConfig, VaeConfig
from engine.yue2.machine.device import Memory
from engine.yue2.machine.memory import allowance, footprint
from engine.yue2.network.precision import Precision
from engine.yue2.vae.autoencoder import DEVICE_SLICE_ELEMENTS
from server.__main__ import app
from server.commands.endings import FAILED, INTERRUPTED, NO_SERVER, TERMINATED, WRONG
from server.log_ring import LogRing
from server.parts import assemble
from server.settings import load
from tests.architecture.documents import ROOT, code, section, table_rows

TEXT = (ROOT / "docs" / "operations.md").read_text(encoding="utf-8")


def test_every_metric_named_is_given(tmp_path: Path) -> None:
    parts = assemble(load({"YUE2_RESULT_DIR": str(tmp_path / "jobs")}), LogRing())
    given = parts.metrics.exposition().decode()
    named = set(re.findall(r"`(yue2_[a-z_]+)`", TEXT))
    assert named
    assert [name for name in sorted(named) if not re.search(rf"^{name} ", given, re.MULTILINE)] == []


def test_the_unit_runs_the_script_and_outwaits_the_server() -> None:
    assert "ExecStart=/opt/yue2-studio/task start\n" in TEXT
    seconds = re.search(r"^TimeoutStopSec=(\d+)$", TEXT, re.MULTILINE)
    assert seconds is not None
    assert int(seconds[1]) > 10  # the server is gone within ten


def test_the_unit_does_not_try_wrong_settings_again() -> None:
    assert f"RestartPreventExitStatus={WRONG}\n" in TEXT


def test_the_exit_statuses_are_those_there_are() -> None:
    told = section(TEXT, "## Exit statuses")
    heading = next(line for line in told.splitlines() if line.startswith("| status"))
    commands = {command.callback.__name__ for command in app.registered_commands if command.callback}
    assert set(code(heading)) == commands
    statuses = [int(row[0]) for row in table_rows(told, 7)]
    assert statuses == [0, FAILED, WRONG, NO_SERVER, INTERRUPTED, TERMINATED]


def test_the_proxy_passes_the_host_on_as_it_came_and_has_a_certificate() -> None:
    block = TEXT.partition("```nginx\n")[2].partition("```")[0]
    assert "proxy_set_header Host $http_host;" in block
    assert "ssl_certificate " in block
    assert "ssl_certificate_key " in block


# The published models, of which only the sizes matter here.
MODEL = ModelConfig(2048, 28, 16, 8, 128, 6144, 184704, 1e-6, 1e6, 24576, 64, 24576, 1.0)
VAE = VaeConfig(64, (1, 2, 4, 8, 16, 32), (2, 2, 4, 4, 5, 6), 64, 128, 48000, 1920, 2, 1024, 16, "standard")
BF16 = Precision("bf16", torch.bfloat16, torch.bfloat16, torch.bfloat16, torch.bfloat16)
CUDA_ITSELF_BYTES = 2**29


@pytest.mark.parametrize("row", table_rows(section(TEXT, "### Memory"), 5), ids=lambda row: row[0])
def test_what_cards_can_do_is_what_is_calculated(row: list[str]) -> None:
    total = int(row[0].removesuffix(" GB")) * 2**30
    sizes = footprint(MODEL, VAE, BF16, DEVICE_SLICE_ELEMENTS)
    allowed = allowance(
        sizes, MODEL.max_positions, VAE.core_frames, Memory(total, total - CUDA_ITSELF_BYTES), "auto"
    )
    sequence, tile = sizes.position_bytes * allowed.positions, sizes.tile_bytes(allowed.core_frames)
    stages = (sizes.decoder_bytes + sequence, sizes.acoustic_bytes + sequence + sizes.song_bytes)
    kept = sizes.weights_bytes + sequence + max(sizes.song_bytes, tile)
    needed = max(*stages, sizes.vae_bytes + tile) if allowed.staged else kept
    told = ["stage" if allowed.staged else "keep", f"{needed / 1e9:.1f} GB"]
    assert row[1:] == [*told, str(allowed.sequences), str(allowed.variations)]
    assert needed < total - CUDA_ITSELF_BYTES


def test_the_parts_add_up_as_told() -> None:
    sizes = footprint(MODEL, VAE, BF16, DEVICE_SLICE_ELEMENTS)
    told = section(TEXT, "### Memory")
    sequence = sizes.position_bytes * MODEL.max_positions
    for count in (sizes.decoder_bytes, sizes.acoustic_bytes, sizes.vae_bytes, sequence):
        assert f"{count / 1e9:.1f} GB" in told
    assert f"{sizes.song_bytes / 1e9:.1f} to {sizes.tile_bytes(VAE.core_frames) / 1e9:.1f} GB" in told
