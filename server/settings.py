"""What can be set from outside: the `YUE2_*` environment variables, with defaults, bounds and meaning.

The environment is read in one place, `load`; everything else is given a `Settings`.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, Literal

from annotated_types import Ge, Le
from pydantic import Field, ValidationError, field_validator
from pydantic.config import JsonDict
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from server.errors import SettingsError

PREFIX: Final = "YUE2_"
MAX_FILE_BYTES: Final = 1024**3
ARTIFACTS_FOLDER: Final = "agent-artifacts"
SECRET: Final = frozenset({"api_keys"})

_KEY_NAME: Final = re.compile(r"[a-z0-9_-]+")
# Visible ASCII: what a header and a command line both carry. The comma separates entries.
_KEY: Final = re.compile(r"[!-+\--~]{16,}")
_HOST_NAME: Final = re.compile(r"\*|[A-Za-z0-9_.:-]+")
_ORIGIN: Final = re.compile(r"https?://[A-Za-z0-9_.\[\]:-]+")
_PUBLIC_URL: Final = re.compile(
    r"https?://(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?(/[A-Za-z0-9_.~-]+)*",
    re.IGNORECASE | re.ASCII,
)


@dataclass(frozen=True, slots=True)
class ApiKey:
    """One caller: the name that owns the jobs, and the secret that proves it."""

    name: str
    key: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class SettingRow:
    """One setting as the documentation shows it."""

    variable: str
    default: str
    bounds: str
    help: str


def _words(bounds: str) -> JsonDict:
    return {"bounds": bounds}


class Settings(BaseSettings):
    """One server's configuration; immutable. The field's description is the documentation's text."""

    model_config = SettingsConfigDict(
        env_prefix=PREFIX, frozen=True, extra="forbid", hide_input_in_errors=True
    )

    host: str = Field(
        default="127.0.0.1",
        pattern=r"^[A-Za-z0-9_.:-]+$",
        description="Address to listen on; 0.0.0.0 for every IPv4 network the machine is in.",
        json_schema_extra=_words("an IP address or a host name"),
    )
    port: int = Field(default=8000, ge=0, le=65535, description="Port to listen on; 0 takes a free one.")
    queue_limit: int = Field(
        default=8, ge=1, le=128, description="Accepted jobs, including the one that is running."
    )
    result_dir: Path = Field(
        default=Path("jobs"),
        description="Folder of finished results, relative to the working directory; its parent is the output folder.",
        json_schema_extra=_words("a folder the server can write to"),
    )
    result_ttl_seconds: int = Field(
        default=86400,
        ge=1,
        le=2592000,
        description="How long a result is kept, in seconds from its completion.",
    )
    result_max_bytes: int = Field(
        default=10 * 1024**3, ge=1, le=1024**4, description="Bytes that all results together may take."
    )
    result_max_files: int = Field(default=256, ge=1, le=10000, description="Number of results that are kept.")
    data_dir: Path | None = Field(
        default=None,
        description="Folder of the server's own records, such as learnt speeds; `state` in the output folder if not set.",
        json_schema_extra=_words("a folder the server can write to"),
    )
    model: Path | None = Field(
        default=None,
        description="Folder of YuE2's weights, which sing by default then; set it together with YUE2_VAE.",
        json_schema_extra=_words("a folder with YuE2's files"),
    )
    vae: Path | None = Field(
        default=None,
        description="Folder of the weights of YuE2's audio codec.",
        json_schema_extra=_words("a folder with the codec's files"),
    )
    device: str = Field(
        default="auto",
        pattern=r"^(auto|cpu|cuda(:[0-9]{1,2})?)$",
        description="Where YuE2 computes and speech is transcribed; auto takes an NVIDIA card where there is one. Transcription takes the processor where it cannot use the card.",
        json_schema_extra=_words("auto, cpu, cuda or cuda:N"),
    )
    precision: Literal["auto", "bf16", "fp16", "fp32"] = Field(
        default="auto",
        description="Number format of YuE2's weights; auto takes the fastest that the device has, fp32 is exact.",
        json_schema_extra=_words("auto, bf16, fp16 or fp32"),
    )
    residency: Literal["auto", "keep", "stage"] = Field(
        default="auto",
        description="Whether YuE2's parts stay in the device's memory or come there stage by stage; auto looks at the room.",
        json_schema_extra=_words("auto, keep or stage"),
    )
    flow_state: Literal["auto", "fp32"] = Field(
        default="auto",
        description="Number format in which YuE2's acoustic solver adds its steps up; auto takes the device's, as the reference.",
        json_schema_extra=_words("auto or fp32"),
    )
    whisper: Path | None = Field(
        default=None,
        description="Folder of a larger Whisper model, as CTranslate2 writes it, that transcribes in place of the built-in one.",
        json_schema_extra=_words("a folder with a CTranslate2 model of Whisper"),
    )
    voices: Path | None = Field(
        default=None,
        description="Folder of further voices for speech, which need not exist; `voices` in the data folder if not set.",
        json_schema_extra=_words("a folder with voices of Kokoro"),
    )
    sound_threads: int = Field(
        default=0,
        ge=0,
        le=256,
        description="Cores that transcription and the voices of Kokoro take at once; 0 leaves one of this machine's free.",
    )
    idle_unload_seconds: int = Field(
        default=0,
        ge=0,
        le=86400,
        description="Seconds without a job after which models leave memory; 0 keeps them.",
    )
    sync_deadline_seconds: int = Field(
        default=600,
        ge=1,
        le=86400,
        description="Seconds that a synchronous call waits for its job, the queue included; a client that announces less gets less.",
    )
    api_keys: tuple[ApiKey, ...] = Field(
        default=(),
        repr=False,
        description="Keys that callers must send, as `name=key,…`; without any, whoever reaches the server may use it.",
        json_schema_extra=_words(
            "entries name=key with commas between them: names of a-z, 0-9, _ and -, keys of 16 or more visible "
            "characters without a comma, no name or key twice"
        ),
    )
    allowed_hosts: tuple[str, ...] = Field(
        default=(),
        description="Further host names the server is reached by; `*` for any. Addresses and the machine's name always work.",
        json_schema_extra=_words("host names with commas between them, or *"),
    )
    allowed_origins: tuple[str, ...] = Field(
        default=(),
        description="Origins of web pages, besides the server's own, that may call it.",
        json_schema_extra=_words("origins such as https://studio.example with commas between them"),
    )
    public_url: str = Field(
        default="",
        description="Address by which agents' clients reach the server, such as a proxy's, for the links they are given; the one their request came to if not set.",
        json_schema_extra=_words(
            "a URL of http or https, with a path or without, such as https://studio.example"
        ),
    )
    log_level: Literal["debug", "info", "warning", "error"] = Field(
        default="info",
        description="The least severe log lines that are written.",
        json_schema_extra=_words("debug, info, warning or error"),
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Only what `load` hands over: neither a test nor an import depends on the process's environment."""
        return (init_settings,)

    @field_validator("api_keys", mode="before")
    @classmethod
    def _read_keys(cls, text: object) -> object:
        if not isinstance(text, str):
            return text
        keys = tuple(
            ApiKey(name.strip(), key) for name, _, key in (item.partition("=") for item in _entries(text))
        )
        if not keys:
            raise ValueError("no key")  # an open server must be asked for by leaving the variable out
        if not all(_KEY_NAME.fullmatch(key.name) and _KEY.fullmatch(key.key) for key in keys):
            raise ValueError("not name=key")
        if len({key.name for key in keys}) < len(keys) or len({key.key for key in keys}) < len(keys):
            raise ValueError("twice")
        return keys

    @field_validator("allowed_hosts", mode="before")
    @classmethod
    def _read_hosts(cls, text: object) -> object:
        return _listed(text, _HOST_NAME)

    @field_validator("allowed_origins", mode="before")
    @classmethod
    def _read_origins(cls, text: object) -> object:
        return _listed(text, _ORIGIN)

    @field_validator("public_url", mode="before")
    @classmethod
    def _read_url(cls, text: object) -> object:
        """The URL without the slash that may end it."""
        if not isinstance(text, str):
            return text
        url = text.strip().removesuffix("/")
        if text and not _PUBLIC_URL.fullmatch(url):
            raise ValueError("not such a URL")
        return url

    @field_validator("log_level", "device", "precision", "residency", "flow_state", mode="before")
    @classmethod
    def _read_word(cls, text: object) -> object:
        return text.lower() if isinstance(text, str) else text

    @property
    def output_directory(self) -> Path:
        """The folder that holds the results' folder and everything else that must last."""
        return self.result_dir.absolute().parent

    @property
    def artifacts_directory(self) -> Path:
        """Where the files lie that agents' jobs make."""
        return self.output_directory / ARTIFACTS_FOLDER

    @property
    def data_directory(self) -> Path:
        """Where the server's own records lie."""
        return self.data_dir.absolute() if self.data_dir else self.output_directory / "state"

    @property
    def voices_directory(self) -> Path:
        """Where further voices lie, if there are any."""
        return self.voices.absolute() if self.voices else self.data_directory / "voices"


def load(environ: Mapping[str, str]) -> Settings:
    """The settings of an environment; empty variables count as unset.

    Raises SettingsError, one sentence with the variable, its value and its bounds, for the first that is wrong.
    """
    values: dict[str, Any] = {
        name: environ[_variable(name)]
        for name in Settings.model_fields
        if environ.get(_variable(name), "").strip()
    }
    if ("model" in values) != ("vae" in values):
        one, other = ("model", "vae") if "model" in values else ("vae", "model")
        raise SettingsError(
            f"{_variable(one)} is set but {_variable(other)} is not; set both for YuE2, or neither."
        )
    try:
        settings = Settings(**values)
    except ValidationError as error:
        name = str(error.errors()[0]["loc"][0])
        raise SettingsError(_sentence(name, str(values.get(name, "")))) from None
    if settings.result_dir.absolute().name.lower() == ARTIFACTS_FOLDER:
        raise SettingsError(
            f"YUE2_RESULT_DIR is {str(settings.result_dir)!r}, but the folder {ARTIFACTS_FOLDER} is for what agents make, "
            "beside the one for results; give that another name, such as jobs."
        )
    return settings


def unknown_variables(environ: Mapping[str, str]) -> list[str]:
    """A sentence for each `YUE2_*` variable that nothing reads, which a slip of the pen makes."""
    known = {_variable(name) for name in Settings.model_fields}
    sentences = []
    for variable in sorted(name for name in environ if name.startswith(PREFIX) and name not in known):
        near = get_close_matches(variable, sorted(known), n=1)
        advice = (
            f"did you mean {near[0]}?" if near else "remove it, or look its name up in the documentation."
        )
        sentences.append(f"{variable} is set but is no setting of this server; {advice}")
    return sentences


def describe() -> list[SettingRow]:
    """Every setting, in the order of the model."""
    return [
        SettingRow(_variable(name), _default(info), _bounds(info), info.description or "")
        for name, info in Settings.model_fields.items()
    ]


def _variable(name: str) -> str:
    return f"{PREFIX}{name.upper()}"


def _entries(text: str) -> list[str]:
    return [item.strip() for item in text.split(",") if item.strip()]


def _listed(text: object, shape: re.Pattern[str]) -> object:
    """A comma list's entries in lower case, without the slash or dot that may end them."""
    if not isinstance(text, str):
        return text
    entries = tuple(item.lower().rstrip("/.") for item in _entries(text))
    if not all(shape.fullmatch(item) for item in entries):
        raise ValueError("not such a list")
    return entries


def _default(info: FieldInfo) -> str:
    return "" if info.default in (None, ()) else str(info.default)


def _bounds(info: FieldInfo) -> str:
    if isinstance(info.json_schema_extra, dict):
        return str(info.json_schema_extra["bounds"])
    low = next(bound.ge for bound in info.metadata if isinstance(bound, Ge))
    high = next(bound.le for bound in info.metadata if isinstance(bound, Le))
    return f"{low} to {high}"


def _sentence(name: str, value: str) -> str:
    info = Settings.model_fields[name]
    kind = "a whole number from " if info.annotation is int else ""
    shown = "set to something else" if name in SECRET else repr(value)
    return f"{_variable(name)} must be {kind}{_bounds(info)}; it is {shown}."
