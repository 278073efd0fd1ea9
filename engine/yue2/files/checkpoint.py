"""A folder of safetensors files as one set of tensors, checked strictly and mapped into memory one by one.

Which files those are says `engine.yue2.files.weight_files`.
"""

import errno
import mmap
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import BinaryIO, Self

import torch

from engine.errors import OutOfMemory
from engine.yue2.files.faults import listed, printable, unreadable, unusable
from engine.yue2.files.headers import StoredTensor, read_header
from engine.yue2.files.regular import open_regular
from engine.yue2.files.tensors import BF16, F32, TensorSpec
from engine.yue2.files.weight_files import INDEX_FILE, SINGLE_FILE, weight_files, weight_map

DTYPES = {BF16: torch.bfloat16, F32: torch.float32}


class Checkpoint:
    """Owner of a checkpoint's open files; use it as a context manager, or `close` it.

    `expected` are the tensors that must be there, and no others. Opening reads the headers alone. Raises
    CheckpointError that lists what is missing, extra or of another shape or dtype.
    """

    def __init__(self, folder: Path, expected: Mapping[str, TensorSpec]) -> None:
        self._folder = folder
        self._expected = dict(expected)
        self._stored: dict[str, StoredTensor] = {}
        self._streams: dict[str, BinaryIO] = {}  # by tensor
        with ExitStack() as opened:
            self._open(opened)
            self._check_tensors()
            self._files = opened.pop_all()

    def _open(self, opened: ExitStack) -> None:
        files = weight_files(self._folder)
        indexed = files != (SINGLE_FILE,) or (self._folder / INDEX_FILE).exists()
        shards = weight_map(self._folder, files) if indexed else None
        for file in files:
            try:
                stream = opened.enter_context(open_regular(self._folder / file))
                header = read_header(stream)
            except OSError as error:
                raise unreadable(self._folder, file, error) from error
            except ValueError as error:
                raise unusable(self._folder, f"{file} is damaged: {error}") from error
            if shards is not None and set(header) != shards[file]:
                raise unusable(self._folder, f"{INDEX_FILE} and {file} disagree about what {file} holds")
            self._stored |= header
            self._streams |= dict.fromkeys(header, stream)

    def _check_tensors(self) -> None:
        faults = {
            "tensors missing": sorted(self._expected.keys() - self._stored.keys()),
            "tensors too many": sorted(self._stored.keys() - self._expected.keys()),
            "tensors of another shape or dtype": list(self._differences()),
        }
        found = [listed(kind, names) for kind, names in faults.items() if names]
        if found:
            raise unusable(self._folder, ", ".join(found))

    def _differences(self) -> Iterator[str]:
        for name, spec in sorted(self._expected.items()):
            stored = self._stored.get(name)
            if stored is not None and (stored.shape, stored.dtype) != (spec.shape, spec.dtype):
                yield f"{name} is {_words(stored)} instead of {_words(spec)}"

    @property
    def size_bytes(self) -> int:
        """Bytes of all tensors."""
        return sum(tensor.length for tensor in self._stored.values())

    def tensor(self, name: str) -> torch.Tensor:
        """A tensor in the file's dtype, on the CPU and without a copy: its pages are read as they are touched.

        The pages are mapped for as long as the tensor or a view of it lives, whether or not the checkpoint was
        closed since; writing to it changes neither the file nor a later call's tensor. Raises CheckpointError
        where the file was cut short after opening, OutOfMemory, and ValueError after `close`.
        """
        place, descriptor = self._stored[name], self._streams[name].fileno()
        start = place.offset - place.offset % mmap.ALLOCATIONGRANULARITY
        lead = place.offset - start
        try:
            pages = mmap.mmap(descriptor, lead + place.length, access=mmap.ACCESS_COPY, offset=start)
        except ValueError as error:
            raise unusable(self._folder, f"the file with {name} was cut short while in use") from error
        except OSError as error:
            if error.errno == errno.ENOMEM:
                raise OutOfMemory(f"There is no room to read {printable(name)}; free memory.") from error
            raise unreadable(self._folder, name, error) from error
        flat = torch.frombuffer(pages, dtype=torch.uint8, offset=lead)
        dtype = DTYPES[place.dtype]
        if lead % dtype.itemsize:  # allowed by the format, though its writers align
            flat = flat.clone()
        return flat.view(dtype).view(place.shape)

    def close(self) -> None:
        """Close the files; tensors that are still held keep their pages."""
        self._files.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def check_folder(folder: Path, expected: Mapping[str, TensorSpec]) -> int:
    """Check names, shapes and dtypes as `Checkpoint` does, and close again; the bytes of all tensors."""
    with Checkpoint(folder, expected) as checkpoint:
        return checkpoint.size_bytes


def _words(tensor: StoredTensor | TensorSpec) -> str:
    return f"{tensor.dtype} {list(tensor.shape)}"
