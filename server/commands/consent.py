"""The user's yes to size and licence."""

import select
import sys

import typer

from server.commands.endings import say
from server.commands.hub_errors import NotAgreed

QUESTION = "Fetch them under this licence? [y/N]: "
LOOK_SECONDS = 0.2


def agree(yes: bool, at_terminal: bool) -> None:
    """Raise NotAgreed unless the user has said yes."""
    if yes:
        return
    if not at_terminal:
        raise NotAgreed("Nobody can be asked here; say --yes to agree to the size and the licence.")
    if not _says_yes():
        raise NotAgreed("Nothing was fetched.")


def _says_yes() -> bool:
    """Ask until it is yes or no; an empty line and the end of input are no.

    `typer.confirm` would make the same error of Ctrl-C, SIGTERM and the end of input.
    """
    while True:
        match _answer():
            case "y" | "yes":
                return True
            case "" | "n" | "no":
                return False
            case _:
                say("Answer y or n.")


def _answer() -> str:
    line = ""
    try:
        typer.echo(QUESTION, err=True, nl=False)
        _wait_for_line()
        line = sys.stdin.readline()
    finally:
        if not line:  # nobody has pressed Enter
            say("")
    return line.strip().lower()


def _wait_for_line() -> None:
    """Return once something can be read from a terminal.

    A signal that arrives just before a read is only heard after it, which may be never; between looks it is heard.
    """
    while sys.stdin.isatty() and not select.select([sys.stdin], [], [], LOOK_SECONDS)[0]:
        pass
