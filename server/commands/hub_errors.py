"""What can go wrong while models are fetched.

PullError
├── ExtraMissing     huggingface-hub is not installed
├── WrongChoice      what cannot be a repository's name or a hub's address
├── NotAgreed        nobody has said yes to the size and the licence
├── HubUnreachable   the hub does not answer, or something else does
├── HubRefused       the hub says no: no such repository or revision, or no access to it
├── WrongRepository  the repository is not one of YuE2, or contradicts itself
├── NoRoom           the disk has too little space
├── InTheWay         the folder cannot be filled: a file, a folder or a right is in the way
├── FolderBusy       another `pull` writes the same file
└── WrongDigest      what came is not what the hub said it would be, twice
"""


class PullError(Exception):
    """Root of the errors of fetching; the message is a sentence for the user."""


class ExtraMissing(PullError):
    """The library that speaks with the hub is not installed."""

    def __init__(self) -> None:
        super().__init__(
            "huggingface-hub is not installed, which fetching needs; './task pull' installs it, "
            "and so does pip install 'yue2-studio[yue2]'."
        )


class WrongChoice(PullError):
    """What was given cannot be a repository's name or a hub's address."""


class NotAgreed(PullError):
    """Nobody has said yes to the size and the licence."""


class HubUnreachable(PullError):
    """The hub does not answer, or something else answers at its address."""


class HubRefused(PullError):
    """There is no such repository or revision, or no access to it."""


class WrongRepository(PullError):
    """The repository lacks what a model needs, or its own manifest contradicts it."""


class NoRoom(PullError):
    """The disk has too little space for what is to be fetched."""


class InTheWay(PullError):
    """The folder cannot be filled: a file, a folder or a right is in the way."""


class FolderBusy(PullError):
    """Another process writes the same file."""


class WrongDigest(PullError):
    """A file's content is not what it should be, also after it was fetched again."""
