"""Keeping a failure from spreading, and telling of it without its words.

An exception's message may quote a prompt or lyrics, and the log can be read by others. So a failure is logged by
its type and the lines of code it passed through, never by its message.
"""

import traceback
from collections.abc import Callable
from types import TracebackType
from typing import Self


class Contained:
    """A context that keeps whatever ends its block as `error` and lets it go no further.

    That includes `MemoryError` and `SystemExit`: a thread that must outlive the code it calls uses this.
    """

    def __init__(self) -> None:
        self.error: BaseException | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        self.error = error
        return True


def contained(call: Callable[[], object]) -> BaseException | None:
    """Call and return what it raised, None where it returned."""
    with Contained() as block:
        call()
    return block.error


def _chain(error: BaseException) -> list[BaseException]:
    links: list[BaseException] = []
    link: BaseException | None = error
    while link is not None and link not in links:
        links.append(link)
        link = link.__cause__ or link.__context__
    return links


def outline(error: BaseException) -> str:
    """The types and code lines of an error and of what led to it, newest first, without any message."""
    return "\n".join(
        f"{type(link).__name__} at\n{''.join(traceback.format_tb(link.__traceback__))}"
        for link in _chain(error)
    )


def release_frames(error: BaseException) -> None:
    """Drop the local variables that an error's traceback keeps alive, such as whole songs of samples."""
    for link in _chain(error):
        traceback.clear_frames(link.__traceback__)
