"""Which files of a checkpoint's folder hold its weights.

They are in `model.safetensors`, or in shards `model-00001-of-00002.safetensors` … with
`model.safetensors.index.json`, whose `weight_map` names the shard of each tensor.
"""

import re
from pathlib import Path

from engine.yue2.files.faults import listed, unreadable, unusable
from engine.yue2.files.fields import Fields

SINGLE_FILE = "model.safetensors"
INDEX_FILE = "model.safetensors.index.json"
SHARD = re.compile(r"model-[0-9]{5}-of-([0-9]{5})\.safetensors")


def safetensors_files(folder: Path) -> tuple[str, ...]:
    """Names of all `*.safetensors` files but hidden ones, sorted; raises CheckpointError for what is no folder."""
    try:
        names = sorted(path.name for path in folder.iterdir() if path.suffix == ".safetensors")
    except (FileNotFoundError, NotADirectoryError) as error:
        raise unusable(folder, "it is no folder") from error
    except OSError as error:
        raise unreadable(folder, "", error) from error
    return tuple(name for name in names if not name.startswith("."))


def weight_files(folder: Path) -> tuple[str, ...]:
    """The one file or all shards; raises CheckpointError where files are missing or do not belong together."""
    files = safetensors_files(folder)
    if files == (SINGLE_FILE,):
        return files
    if not files:
        raise unusable(folder, f"{SINGLE_FILE} is missing")
    stray = [file for file in files if not SHARD.fullmatch(file)]
    if SINGLE_FILE in stray:
        raise unusable(folder, listed(f"files beside {SINGLE_FILE}", [*set(files) - {SINGLE_FILE}]))
    if stray:
        raise unusable(folder, listed("files that are neither the model nor a shard of it", stray))
    total = int(files[0][15:20])
    wanted = {f"model-{number:05}-of-{total:05}.safetensors" for number in range(1, total + 1)}
    missing, extra = sorted(wanted - set(files)), sorted(set(files) - wanted)
    if missing or extra:
        kinds = {"shards missing": missing, "shards too many": extra}
        raise unusable(folder, ", ".join(listed(kind, names) for kind, names in kinds.items() if names))
    return files


def weight_map(folder: Path, files: tuple[str, ...]) -> dict[str, set[str]]:
    """The tensors of each shard, as the index says; raises CheckpointError for one that names other files."""
    fields = Fields.read(folder, INDEX_FILE)
    shards: dict[str, set[str]] = {file: set() for file in files}
    for name, file in fields.inner("weight_map").values.items():
        if not isinstance(file, str) or file not in shards:
            raise unusable(folder, f"{INDEX_FILE} puts {name} into a file that is not there")
        shards[file].add(name)
    return shards
