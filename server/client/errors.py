"""What can go wrong for someone who talks to a running server.

ClientError
├── BadAddress       the server's address or the key cannot be used at all; nothing was sent
├── Unreachable      no usable connection for longer than the client was told to bear
├── BadAnswer        whatever answered does not speak this API
├── Refused          the server said no and waiting would not help; `code` and `field` say why
├── JobLost          the server no longer knows the job: it expired, was deleted or never was
├── JobFailed        the job was run and failed; `code` says how
├── JobCancelled     the job was cancelled
└── ResultChanged    the rest of a broken-off download belongs to another body
"""


class ClientError(Exception):
    """Root of the client's errors; the message is a sentence for the user."""


class BadAddress(ClientError):
    """The address or the key cannot be used at all; nothing was sent."""


class Unreachable(ClientError):
    """There was no usable connection for longer than the client was told to bear."""


class BadAnswer(ClientError):
    """Something answered that does not speak this API."""


class Refused(ClientError):
    """The server said no and waiting would not help; `field` names the field to blame, if one is."""

    def __init__(self, message: str, code: str = "", field: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.field = field


class JobLost(ClientError):
    """The server no longer knows the job: it expired, was deleted or never was."""


class JobFailed(ClientError):
    """The job was run and failed; `code` is the server's word for how."""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


class JobCancelled(ClientError):
    """The job was cancelled, by this caller or another."""


class ResultChanged(ClientError):
    """The rest of a broken-off download belongs to another body; start again from nothing."""
