"""Reads what a safetensors file says it holds, without its weights.

Format: https://huggingface.co/docs/safetensors/index#format: eight bytes with the header's length, little-endian,
the header as a JSON object, then the tensors' bytes, which the header's offsets must cover without a gap.
"""

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import BinaryIO

from pydantic import JsonValue

from engine.yue2.files.fields import parse_object

MOST_HEADER_BYTES = 100_000_000  # the bound that the format's own reader has
LENGTH_BYTES = 8
METADATA = "__metadata__"
ITEM_BYTES = {
    **dict.fromkeys(("BOOL", "U8", "I8", "F8_E5M2", "F8_E4M3"), 1),
    **dict.fromkeys(("U16", "I16", "F16", "BF16"), 2),
    **dict.fromkeys(("U32", "I32", "F32"), 4),
    **dict.fromkeys(("U64", "I64", "F64"), 8),
}


@dataclass(frozen=True, slots=True)
class StoredTensor:
    """Where a tensor lies: its dtype in the format's word, its shape and its bytes' place in the file."""

    dtype: str
    shape: tuple[int, ...]
    offset: int  # bytes from the start of the file
    length: int  # bytes


def read_header(stream: BinaryIO) -> dict[str, StoredTensor]:
    """The tensors of a safetensors file, by name.

    Raises ValueError, saying what is wrong, where the header is damaged or does not fit the file's length.
    """
    size = os.fstat(stream.fileno()).st_size
    length = int.from_bytes(stream.read(LENGTH_BYTES), "little")
    if size < LENGTH_BYTES + 2 or not 2 <= length <= MOST_HEADER_BYTES:
        raise ValueError("it does not begin with a safetensors header")
    begin = LENGTH_BYTES + length
    if begin > size:
        raise ValueError(f"it is cut short: its header alone needs {begin} bytes, and it has {size}")
    entries = parse_object(stream.read(length))
    entries.pop(METADATA, None)
    stored = {name: _entry(name, entry, begin) for name, entry in entries.items()}
    _check_covered(stored, begin, size)
    return stored


def _entry(name: str, entry: JsonValue, begin: int) -> StoredTensor:
    if not isinstance(entry, Mapping):
        raise ValueError(f"its header has no entry for {name}")
    dtype, shape = entry.get("dtype"), _naturals(entry.get("shape"))
    offsets = _naturals(entry.get("data_offsets"))
    if not isinstance(dtype, str) or shape is None or offsets is None or len(offsets) != 2:
        raise ValueError(f"its header's entry for {name} is damaged")
    length = offsets[1] - offsets[0]
    item = ITEM_BYTES.get(dtype)
    if length < 0 or (item is not None and length != item * math.prod(shape)):
        raise ValueError(f"its header gives {name} {length} bytes, which do not fit its shape")
    return StoredTensor(dtype, shape, begin + offsets[0], length)


def _naturals(value: JsonValue) -> tuple[int, ...] | None:
    if not isinstance(value, list) or len(value) > 64:
        return None
    naturals = tuple(item for item in value if type(item) is int and 0 <= item < 2**63)
    return naturals if len(naturals) == len(value) else None


def _check_covered(stored: Mapping[str, StoredTensor], begin: int, size: int) -> None:
    """Refuse gaps, overlaps and a file of another length than the header says."""
    end = begin
    for name, tensor in sorted(stored.items(), key=lambda item: (item[1].offset, item[1].length)):
        if tensor.offset != end:
            raise ValueError(f"its header puts {name} at the wrong place")
        end += tensor.length
    if end > size:
        raise ValueError(f"it is cut short: it has {size} bytes of {end}")
    if end < size:
        raise ValueError(f"it has {size} bytes where its header accounts for {end}")
