"""The sentences in which a checkpoint is refused."""

from collections.abc import Sequence
from pathlib import Path

from engine.errors import CheckpointError

SHOWN = 8  # names of each kind of fault that are listed


def unusable(folder: Path, fault: str) -> CheckpointError:
    """The error for a checkpoint of which `fault` is true; it says how to mend it."""
    return CheckpointError(
        f"The checkpoint in {printable(str(folder))} cannot be used: {printable(fault)}. Fetch it with "
        f"`yue2-studio pull --into {printable(str(folder.parent))}`, or name another folder."
    )


def unreadable(folder: Path, name: str, error: OSError) -> CheckpointError:
    """The error for a file, or with `name` empty a folder, that the system does not let us read."""
    file = f"{printable(name)} in it" if name else "it"
    return CheckpointError(
        f"The checkpoint in {printable(str(folder))} cannot be used: {file} cannot be read "
        f"({error.strerror or error}). Give the server leave to read it, or name another folder."
    )


def printable(text: str) -> str:
    """The text with what cannot be shown or sent escaped: control characters, halves of surrogate pairs and the like."""
    return "".join(letter if letter.isprintable() else ascii(letter)[1:-1] for letter in text)


def listed(kind: str, names: Sequence[str]) -> str:
    """`3 tensors missing (a, b, c)`, with the first eight names; `kind` begins with the word for several."""
    kind = kind if len(names) != 1 else kind.replace("s ", " ", 1)
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"{len(names)} {kind} ({', '.join(names[:SHOWN])}{more})"
