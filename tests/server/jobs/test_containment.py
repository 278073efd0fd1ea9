import weakref

import pytest

from server.jobs.containment import contained, outline, release_frames


class Samples:
    """Stands for a large array."""


def fail_with(error: BaseException) -> None:
    raise error


@pytest.mark.parametrize("kind", [ValueError, MemoryError, SystemExit, KeyboardInterrupt, GeneratorExit])
def test_nothing_gets_out(kind: type[BaseException]) -> None:
    error = kind("lyrics")
    assert contained(lambda: fail_with(error)) is error


def test_a_return_is_no_error() -> None:
    assert contained(lambda: 3) is None


def wrapped(text: str) -> None:
    try:
        raise KeyError(text)
    except KeyError as error:
        raise ValueError(text) from error


def test_an_outline_names_types_and_lines_but_no_message() -> None:
    error = contained(lambda: wrapped("my secret lyrics"))
    assert error is not None
    told = outline(error)
    assert told.index("ValueError at") < told.index("KeyError at")
    assert "in wrapped" in told
    assert "my secret lyrics" not in told.replace('wrapped("my secret lyrics")', "")


def test_an_outline_shows_an_error_met_while_handling_another() -> None:
    def clumsy() -> None:
        try:
            raise KeyError("x")
        except KeyError:
            [].pop()

    error = contained(clumsy)
    assert error is not None
    assert "IndexError at" in outline(error)
    assert "KeyError at" in outline(error)


def test_an_outline_of_a_circle_of_causes_ends() -> None:
    first, second = ValueError("a"), KeyError("b")
    first.__cause__, second.__cause__ = second, first
    assert outline(first).count(" at\n") == 2


def test_released_frames_keep_no_samples_alive() -> None:
    references: list[weakref.ref[Samples]] = []

    def deep() -> None:
        samples = Samples()
        references.append(weakref.ref(samples))
        raise MemoryError

    def wrapping() -> None:
        try:
            deep()
        except MemoryError as error:
            raise ValueError from error

    error = contained(wrapping)
    assert error is not None
    assert references[0]() is not None
    release_frames(error)
    assert references[0]() is None
