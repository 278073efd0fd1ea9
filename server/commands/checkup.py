"""The findings behind `yue2-studio doctor`, as rows for a reader and as JSON for a program."""

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from pydantic import JsonValue, TypeAdapter

from engine.errors import CheckpointError
from engine.yue2.machine.diagnosis import NOBODY, Diagnosis, diagnose
from engine.yue2.machine.outlook import FolderState, Plan, Wishes
from server.commands.bar import Bar
from server.commands.receipt import read_receipt
from server.commands.sound_checkup import SoundCheckup, check_sound
from server.settings import Settings, unknown_variables

GB = 1e9
UNSURE = "not read; --verify reads them"


@dataclass(frozen=True, slots=True)
class Checkup:
    """What was found. `digests` says of each folder how far its content is known to be right.

    `warnings` are sentences about what is odd but stops nothing; `results` is the folder of the results where a setting
    says it, else None, since each server has its own then, and the disk is that of the folder one is in.
    """

    diagnosis: Diagnosis
    digests: Mapping[str, str]
    free_disk_bytes: int
    results: Path | None
    problems: tuple[str, ...]
    sound: SoundCheckup
    warnings: tuple[str, ...] = ()

    @property
    def songs_by(self) -> str:
        """Who makes songs here; nobody where digests are wrong that the diagnosis has not looked at."""
        return self.diagnosis.conclusion if self.problems == self._known_problems else NOBODY

    @property
    def _known_problems(self) -> tuple[str, ...]:
        return (*self.diagnosis.problems, *self.sound.problems)

    def to_json(self) -> dict[str, JsonValue]:
        """Everything, with the names of the dataclasses; sizes in bytes."""
        report = asdict(self.diagnosis) | {
            "songs_by": self.songs_by,
            "digests": dict(self.digests),
            "sound": asdict(self.sound),
            "free_disk_bytes": self.free_disk_bytes,
            "results": self.results,
            "problems": self.problems,
            "warnings": self.warnings,
        }
        return TypeAdapter(dict[str, JsonValue]).validate_json(TypeAdapter(object).dump_json(report))

    def rows(self) -> Iterator[tuple[str, str]]:
        """Name and words of each line."""
        found = self.diagnosis
        yield "Songs by", self.songs_by
        yield from self.sound.rows()
        yield "Cards", _cards(found)
        yield "torch", _torch(found)
        for folder in found.folders:
            yield folder.setting, f"{folder.path}: {self._state(folder)}"
        if found.plan is not None:
            yield from _plan_rows(found.plan)
            if found.torch is not None and found.plan.device == "cpu":
                yield "Threads", f"{found.torch.threads} that compute; OMP_NUM_THREADS sets another number"
        place = "on the disk of this folder" if self.results is None else f"where results go ({self.results})"
        yield "Disk", f"{_size(self.free_disk_bytes)} free {place}"
        for problem in self.problems:
            yield "Problem", problem
        for warning in self.warnings:
            yield "Warning", warning

    def _state(self, folder: FolderState) -> str:
        if folder.fault:
            return "cannot be used (see below)"
        if not folder.size_bytes:
            return "not looked into, since torch is missing"
        return f"complete, {_size(folder.size_bytes)}; digests {self.digests[folder.setting]}"


def check_up(settings: Settings, environ: Mapping[str, str], verify: bool) -> Checkup:
    """Look at everything; with `verify` also at every byte of the weights."""
    wishes = Wishes(settings.model, settings.vae, settings.device, settings.precision, settings.residency)
    diagnosis = diagnose(wishes, environ)
    digests: dict[str, str] = {}
    sound = check_sound(settings)
    problems = [*diagnosis.problems, *sound.problems]
    for folder in diagnosis.folders:
        digests[folder.setting], fault = _digests(folder, verify and not folder.fault)
        problems += [fault] if fault else []
    told = "result_dir" in settings.model_fields_set
    results = settings.result_dir.absolute() if told else Path.cwd()
    there = next(folder for folder in (results, *results.parents) if folder.is_dir())
    warnings = (*unknown_variables(environ), *_relative(wishes))
    free = shutil.disk_usage(there).free
    place = results if told else None
    return Checkup(diagnosis, digests, free, place, tuple(problems), sound, warnings)


def _relative(wishes: Wishes) -> Iterator[str]:
    """A sentence for each folder whose place depends on where one is."""
    for setting, path in wishes.folders():
        if not path.is_absolute():
            yield (
                f"{setting} is {path}, which means {path.absolute()} here, and another folder where a program is "
                "started elsewhere (./task start looks from the checkout); write the whole path."
            )


def _digests(folder: FolderState, read: bool) -> tuple[str, str]:
    """How far the digests are known, and what is wrong with them."""
    if read:
        return _read_digests(folder.path)
    pulled = read_receipt(folder.path)
    return (
        UNSURE if pulled is None else f"right when pulled (commit {pulled.commit[:12]}), unchanged since"
    ), ""


def _read_digests(path: Path) -> tuple[str, str]:
    from engine.yue2.files.digests import verify_weights

    with Bar() as bar, TemporaryDirectory() as scratch:

        def show(fraction: float) -> None:
            bar.report(f"reading {path.name}", fraction)

        try:
            verify_weights(path, Path(scratch) / "digests.json", bar.check_cancelled, show)
        except CheckpointError as error:
            return "wrong", str(error)
    return "right", ""


def _cards(found: Diagnosis) -> str:
    driver = found.driver
    if not driver.present:
        return "no NVIDIA driver found (there is no nvidia-smi)"
    told = [f"{card.name}, {_size(card.memory_bytes)}, driver {card.driver}" for card in driver.cards]
    return "; ".join(told) or driver.fault


def _torch(found: Diagnosis) -> str:
    if found.torch is None:
        return "not usable" if found.problems else "not installed, and not needed for the built-in band"
    build = f"for CUDA {found.torch.cuda}" if found.torch.cuda else "for processors only"
    return f"{found.torch.version}, {build}; cards it can use: {', '.join(found.torch.devices) or 'none'}"


def _plan_rows(plan: Plan) -> Iterator[tuple[str, str]]:
    yield "Device", f"{plan.device}, {plan.name}; {_device_reason(plan)}"
    formats = ", ".join(f"{name} {words}" for name, words in plan.formats.items())
    fastest = "the fastest for this device"
    yield (
        "Precision",
        f"{plan.precision}, {_reason('YUE2_PRECISION', plan.wishes.precision, fastest)}: {formats}",
    )
    yield "Residency", _residency(plan)
    parts = ((plan.decoder_bytes, "decoder"), (plan.acoustic_bytes, "acoustic half"), (plan.vae_bytes, "VAE"))
    yield "Weights", " + ".join(f"{_size(count)} {name}" for count, name in parts)
    yield (
        "Cache",
        f"{_size(plan.cache_bytes)} a sequence of {plan.positions} positions; a guided song has two",
    )
    yield "Work", f"{_size(plan.song_bytes)} in the acoustic stage, {_size(plan.tile_bytes)} in the VAE"
    short = (
        "" if plan.needed_bytes <= plan.free_bytes else ". Too little: long songs may fail for lack of memory"
    )
    yield (
        "Memory",
        f"about {_size(plan.needed_bytes)} for a song of six minutes, {_size(plan.free_bytes)} of {_size(plan.total_bytes)} free{short}",
    )
    yield "RAM", f"{_size(plan.ram_free_bytes)} of {_size(plan.ram_total_bytes)} free"


def _device_reason(plan: Plan) -> str:
    other = "the first card that torch sees" if plan.device.startswith("cuda") else "torch sees no card"
    return _reason("YUE2_DEVICE", plan.wishes.device, other)


def _residency(plan: Plan) -> str:
    kept = "stage: only the part at work is loaded" if plan.staged else "keep: all parts stay loaded"
    why = "together they would not fit" if plan.staged else "they fit together"
    return f"{kept}; {_reason('YUE2_RESIDENCY', plan.wishes.residency, why)}"


def _reason(setting: str, wish: str, otherwise: str) -> str:
    return otherwise if wish == "auto" else f"as {setting} says"


def _size(count: int) -> str:
    return f"{count / GB:.1f} GB" if count >= GB / 10 else f"{count / 1e6:.1f} MB"
