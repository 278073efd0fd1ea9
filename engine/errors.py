"""What can go wrong in the engine.

EngineError
├── InvalidRequest   a field is out of bounds or contradicts another
│   ├── UnknownField     the request has a field that nobody reads
│   └── MissingInput     what the work cannot do without was not sent
├── ScoreError       a score cannot be read, at a line and column
├── UnknownModel     no model of that name is present
├── OutOfMemory      the work needs more memory than the device has
├── CheckpointError  a checkpoint's files are missing, damaged or of another shape
├── MissingExtra     the libraries that a model needs are not installed
├── DeviceError      the device asked for is not there or cannot do the work
├── NumericalError   a model computed values that are not finite
└── CorruptBank      the sound bank cannot be read
"""


class EngineError(Exception):
    """Root of the engine's errors."""


class InvalidRequest(EngineError):
    """A field of a request is out of bounds or contradicts another; `field` names it, `lora.0.id` where nested."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class UnknownField(InvalidRequest):
    """The request has a field that nobody reads."""


class MissingInput(InvalidRequest):
    """What the work cannot do without was not sent: a required field, or all of style, lyrics and score."""


class ScoreError(EngineError):
    """A score cannot be read; `line` and `column` count from 1."""

    def __init__(self, message: str, line: int, column: int) -> None:
        super().__init__(f"{message.removesuffix('.')} (line {line}, column {column}).")
        self.line = line
        self.column = column


class UnknownModel(EngineError):
    """No model of that name is present; `model` names it, `remedy` says what else would do than one of those present.

    `field` is where the request names it.
    """

    def __init__(self, model: str, present: tuple[str, ...], remedy: str = "") -> None:
        super().__init__(
            f"There is no model {model!r} here; {remedy or 'choose one of: ' + ', '.join(present)}."
        )
        self.model = model
        self.remedy = remedy
        self.field = "model"


class OutOfMemory(EngineError):
    """The work needs more memory than the device has."""


class CheckpointError(EngineError):
    """A checkpoint's files are missing, damaged or of another shape; the message names the folder and lists what is wrong."""


class MissingExtra(EngineError):
    """The libraries that a model needs are not installed; `module` is the one that is missing."""

    def __init__(self, module: str) -> None:
        super().__init__(
            f"The models of YuE2 need the Python module {module!r}, which is not installed; run "
            ".venv/bin/pip install -c constraints.txt -e '.[yue2]', or ./task start with YUE2_MODEL set."
        )
        self.module = module


class DeviceError(EngineError):
    """The device asked for is not there, or cannot compute in the precision asked for."""


class NumericalError(EngineError):
    """A model computed values that are not finite; its weights, its input or its precision are to blame."""


class CorruptBank(EngineError):
    """The sound bank is damaged or is no SoundFont."""
