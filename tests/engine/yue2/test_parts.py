import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from engine.errors import CheckpointError
from engine.yue2.files.config import ModelConfig, VaeConfig
from engine.yue2.machine.memory import Allowance
from engine.yue2.network.precision import choose
from engine.yue2.parts import Parts, Source
from tests.engine.yue2.songs import Stopped, Watch

KEPT = Allowance(False, 16, 600, 9, 1024)
STAGED = Allowance(True, 2, 600, 1, 1024)
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def source(
    model_folder: Path,
    vae_folder: Path,
    model_config: ModelConfig,
    vae_config: VaeConfig,
    tmp_path_factory: pytest.TempPathFactory,
) -> Source:
    digest_file = tmp_path_factory.mktemp("digests") / "verified.json"
    return Source(model_folder, vae_folder, digest_file, model_config, vae_config, CPU, choose(CPU, "fp32"))


@pytest.fixture
def parts(source: Source) -> Iterator[Parts]:
    opened = Parts(source, KEPT.positions)
    yield opened
    opened.release()


def test_loading_is_told_from_begin_to_end_and_happens_once(parts: Parts) -> None:
    watch = Watch()
    decoder = parts.decoder(watch, KEPT, 2)
    told = watch.fractions("loading")
    assert told == sorted(told)
    assert (told[0], told[-1] > 0.97) == (0.0, True)
    assert (watch.checks > len(told) // 2, decoder.graphs) == (True, None)
    again = Watch()
    assert parts.decoder(again, KEPT, 2) is decoder
    assert again.reports == []
    assert parts.loaded == {"decoder"}


def test_both_halves_share_the_cache(parts: Parts) -> None:
    decoder, acoustic = parts.decoder(Watch(), KEPT, 3).decoder, parts.acoustic(Watch(), KEPT)
    assert decoder.cache is acoustic.cache
    assert (decoder.cache.slots, decoder.cache.capacity) == (3, 600)


def test_parts_come_and_go_where_they_are_loaded_alone(parts: Parts) -> None:
    cache = parts.decoder(Watch(), STAGED, 2).decoder.cache
    parts.acoustic(Watch(), STAGED)
    assert (sorted(parts.loaded), cache.slots) == (["acoustic"], 2)
    parts.vae(Watch(), STAGED)
    assert (sorted(parts.loaded), cache.slots) == (["vae"], 0)
    vae = parts.encoder(Watch(), STAGED)
    assert (sorted(parts.loaded), vae.encoder_bytes > 0, vae.decoder_bytes) == (["encoder"], True, 0)
    parts.vae(Watch(), STAGED)
    assert sorted(parts.loaded) == ["vae"]


def test_the_encoder_is_kept_where_parts_are_kept(parts: Parts) -> None:
    vae = parts.encoder(Watch(), KEPT)
    parts.vae(Watch(), KEPT)
    again = Watch()
    assert parts.encoder(again, KEPT) is vae
    assert (again.reports, sorted(parts.loaded)) == ([], ["encoder", "vae"])
    parts.release()
    assert parts.loaded == frozenset()


def test_weights_are_verified_once_in_a_process_even_if_that_cannot_be_written_down(
    source: Source, tmp_path: Path
) -> None:
    (tmp_path / "held").mkdir()
    parts, watches = Parts(replace(source, digest_file=tmp_path / "held"), 600), [Watch(), Watch()]
    for watch in watches:
        parts.vae(watch, KEPT)
        parts.release()
    assert watches[0].checks > watches[1].checks  # those between the slices that were read


def test_a_card_is_turned_to_before_it_is_loaded(source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    turned: list[torch.device] = []
    monkeypatch.setattr("engine.yue2.parts.turn_to", turned.append)
    parts = Parts(source, 600)
    parts.encoder(Watch(), KEPT)
    parts.vae(Watch(), KEPT)
    assert turned == [CPU, CPU]


def test_another_length_of_sequences_loads_anew(parts: Parts) -> None:
    parts.acoustic(Watch(), KEPT)
    shorter = parts.decoder(Watch(), KEPT.reduced(100), 1).decoder
    assert (shorter.cache.capacity, sorted(parts.loaded)) == (100, ["decoder"])
    assert parts.decoder(Watch(), KEPT, 1).decoder.cache.capacity == 600


def test_loading_can_be_stopped_and_begun_again(parts: Parts) -> None:
    with pytest.raises(Stopped):
        parts.vae(Watch(stop_at=100), KEPT)
    assert parts.loaded == frozenset()
    assert parts.vae(Watch(), KEPT).decoder_bytes > 0


def test_weights_that_are_not_what_the_manifest_says_are_refused(source: Source, tmp_path: Path) -> None:
    for path in source.vae_folder.iterdir():
        (tmp_path / path.name).symlink_to(path)
    manifest = json.loads((source.vae_folder / "weights_manifest.json").read_text())
    manifest["files"]["model.safetensors"]["sha256"] = "0" * 64
    (tmp_path / "weights_manifest.json").unlink()
    (tmp_path / "weights_manifest.json").write_text(json.dumps(manifest))
    damaged = Source(
        source.model_folder, tmp_path, tmp_path / "seen.json", source.model, source.vae, CPU, source.precision
    )
    with pytest.raises(CheckpointError, match="sha256"):
        Parts(damaged, 600).vae(Watch(), KEPT)
