"""Exit codes and sentences."""

import errno
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest
import typer

from engine.errors import EngineError, InvalidRequest, ScoreError
from server.client.errors import BadAddress, BadAnswer, JobFailed, JobLost, Refused, Unreachable
from server.commands.endings import (
    FAILED,
    INTERRUPTED,
    NO_SERVER,
    TERMINATED,
    WRONG,
    Terminated,
    code_of,
    terminable,
    told,
)
from server.commands.hub_errors import HubRefused, HubUnreachable, NotAgreed, WrongChoice, WrongDigest
from server.errors import SettingsError
from server.starting import StartError
from storage.errors import StorageError


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (InvalidRequest("steps", "No."), WRONG),
        (ScoreError("No.", 1, 2), WRONG),
        (SettingsError("No."), WRONG),
        (Refused("No.", "invalid_field", "steps"), WRONG),
        (Refused("No.", "result_store_full"), FAILED),
        (JobFailed("No.", "out_of_memory"), FAILED),
        (JobLost("No."), FAILED),
        (EngineError("No."), FAILED),
        (StorageError("No."), FAILED),
        (Unreachable("No."), NO_SERVER),
        (BadAnswer("No."), NO_SERVER),
        (BadAddress("No."), WRONG),
        (HubUnreachable("No."), NO_SERVER),
        (HubRefused("No."), FAILED),
        (WrongDigest("No."), FAILED),
        (WrongChoice("No."), WRONG),
        (NotAgreed("No."), WRONG),
    ],
)
def test_each_error_has_its_exit_code(error: Exception, code: int) -> None:
    assert code_of(error) == code


@pytest.mark.parametrize(
    ("error", "code", "sentence"),
    [
        (JobFailed("The song failed.", "engine_error"), FAILED, "The song failed."),
        (OSError(errno.EACCES, "Permission denied", "/song.mp3"), FAILED, "/song.mp3: Permission denied."),
        (OSError("odd"), FAILED, "odd."),
        (
            Refused("Send a header.", "unauthorized"),
            FAILED,
            "The server wants a key, or another one; give it with",
        ),
        (EOFError("Compressed file ended"), FAILED, "A file ends too early"),
        (MemoryError(), FAILED, "There was not enough memory"),
        (StartError("The port is taken."), FAILED, "The port is taken."),
        (KeyboardInterrupt(), INTERRUPTED, "Interrupted."),
        (Terminated(), TERMINATED, "Ended by SIGTERM."),
    ],
)
def test_an_error_ends_in_a_sentence_on_stderr(
    capsys: pytest.CaptureFixture[str], error: BaseException, code: int, sentence: str
) -> None:
    with pytest.raises(typer.Exit) as left, told():
        raise error
    written = capsys.readouterr()
    assert left.value.exit_code == code
    assert written.err.startswith(sentence)
    assert written.out == ""


def test_a_bug_is_not_dressed_up() -> None:
    with pytest.raises(KeyError), told():
        raise KeyError("bug")


def test_sigterm_is_raised_in_the_block_and_only_there() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(Terminated), terminable():
        signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) == before


def test_another_thread_leaves_signals_alone() -> None:
    before = signal.getsignal(signal.SIGTERM)

    def within() -> object:
        with terminable():
            return signal.getsignal(signal.SIGTERM)

    with ThreadPoolExecutor(1) as threads:
        assert threads.submit(within).result(5) == before


def test_a_reader_who_has_enough_is_left_to_typer() -> None:
    with pytest.raises(BrokenPipeError), told():
        raise BrokenPipeError(errno.EPIPE, "Broken pipe")
