"""How a command ends: its exit code, and a sentence on stderr where it did not do what was asked.

0    done
1    failed: the sentence says why
2    the arguments, the settings or the request are wrong
3    the server or the hub cannot be reached, or something else answers at its address (an address that cannot be
     one is a wrong argument)
130  interrupted with Ctrl-C; nothing half-written is left behind
143  ended by SIGTERM, in the same way
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

import typer

FAILED = 1
WRONG = 2
NO_SERVER = 3
INTERRUPTED = 130
TERMINATED = 143


class Terminated(KeyboardInterrupt):
    """SIGTERM came; whoever cleans up after Ctrl-C cleans up after it as well."""


def say(sentence: str) -> None:
    """Tell the user something that is not a result."""
    typer.echo(sentence, err=True)


@contextmanager
def told() -> Iterator[None]:
    """End the command with a sentence and a code where the block raises one of the project's errors."""
    from engine.errors import EngineError
    from server.client.errors import ClientError
    from server.commands.hub_errors import PullError
    from server.errors import EdgeError
    from server.starting import StartError
    from storage.errors import StorageError

    try:
        yield
    except Terminated:
        say("Ended by SIGTERM.")
        raise typer.Exit(TERMINATED) from None
    except KeyboardInterrupt:
        say("Interrupted.")
        raise typer.Exit(INTERRUPTED) from None
    except (ClientError, EngineError, EdgeError, PullError, StartError, StorageError) as error:
        say(_sentence(error))
        raise typer.Exit(code_of(error)) from None
    except BrokenPipeError:  # whoever read the output has enough; typer ends it without a word
        raise
    except OSError as error:
        say(_of_the_system(error))
        raise typer.Exit(FAILED) from None
    except EOFError:  # typer would take it for the end of what somebody types
        say(
            "A file ends too early, so it is damaged; send it whole, or install this again if it is not yours."
        )
        raise typer.Exit(FAILED) from None
    except MemoryError:
        say("There was not enough memory; close other programs or ask for something shorter.")
        raise typer.Exit(FAILED) from None


@contextmanager
def terminable() -> Iterator[None]:
    """Raise Terminated in the block where SIGTERM comes; outside the main thread, where none can, do nothing."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, _terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _terminate(number: int, frame: FrameType | None) -> None:
    raise Terminated


def code_of(error: Exception) -> int:
    """The exit code of one of the project's errors."""
    from engine.errors import InvalidRequest, ScoreError, UnknownModel
    from server.client.errors import BadAddress, BadAnswer, Refused, Unreachable
    from server.commands.hub_errors import HubUnreachable, NotAgreed, WrongChoice
    from server.errors import SettingsError

    if isinstance(error, BadAnswer | Unreachable | HubUnreachable):
        return NO_SERVER
    if isinstance(
        error,
        BadAddress | InvalidRequest | ScoreError | UnknownModel | SettingsError | NotAgreed | WrongChoice,
    ):
        return WRONG
    if isinstance(error, Refused) and error.field:
        return WRONG
    return FAILED


def _sentence(error: Exception) -> str:
    """The error's own, but for a key that is missing: the server's speaks of headers."""
    from server.client.errors import Refused

    if isinstance(error, Refused) and error.code == "unauthorized":
        return "The server wants a key, or another one; give it with --key or in STUDIO_API_KEY."
    return str(error)


def _of_the_system(error: OSError) -> str:
    place = f"{error.filename}: " if error.filename else ""
    return f"{place}{error.strerror or error}."
