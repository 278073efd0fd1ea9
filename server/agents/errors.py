"""What can go wrong between an agent and its desk.

AgentError
├── UnknownTool        no tool has this name
├── UnsuitablePrompt   no prompt has this name, or not these arguments
└── CallerGone         the caller's connection ended before anything was begun
"""


class AgentError(Exception):
    """Root of the errors of the agents' desk."""


class UnknownTool(AgentError):
    """No tool has this name, which `name` holds."""

    def __init__(self, name: str) -> None:
        super().__init__(f"There is no tool {name[:80]!r}; tools/list names those there are.")
        self.name = name


class UnsuitablePrompt(AgentError):
    """No prompt has the name asked for, or it was asked for with other arguments than it takes; the text says what to send."""


class CallerGone(AgentError):
    """The caller's connection ended before anything was begun for it."""

    def __init__(self) -> None:
        super().__init__(
            "The connection ended before this was begun; nothing was queued. Call the tool again."
        )
