from pathlib import Path

import pytest
from pydantic import ValidationError

from server.errors import SettingsError
from server.settings import ApiKey, Settings, describe, load, unknown_variables


def test_defaults_are_the_documented_ones() -> None:
    settings = load({})
    assert (settings.host, settings.port, settings.queue_limit) == ("127.0.0.1", 8000, 8)
    assert (settings.result_dir, settings.result_ttl_seconds) == (Path("jobs"), 86400)
    assert (settings.result_max_bytes, settings.result_max_files) == (10737418240, 256)
    assert (settings.sync_deadline_seconds, settings.log_level) == (600, "info")
    assert (settings.api_keys, settings.allowed_hosts, settings.allowed_origins) == ((), (), ())


def test_the_output_folder_is_the_parent_of_the_results(tmp_path: Path) -> None:
    settings = load({"YUE2_RESULT_DIR": str(tmp_path / "out" / "jobs")})
    assert settings.output_directory == tmp_path / "out"
    assert settings.data_directory == tmp_path / "out" / "state"
    assert load({"YUE2_DATA_DIR": str(tmp_path)}).data_directory == tmp_path


def test_voices_lie_among_the_records_unless_told_otherwise(tmp_path: Path) -> None:
    assert load({"YUE2_DATA_DIR": str(tmp_path)}).voices_directory == tmp_path / "voices"
    assert load({"YUE2_VOICES": str(tmp_path / "own")}).voices_directory == tmp_path / "own"
    assert load({}).whisper is None


def test_relative_folders_start_at_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert load({}).data_directory == tmp_path / "state"


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("YUE2_QUEUE_LIMIT", 1, 128),
        ("YUE2_RESULT_TTL_SECONDS", 1, 2592000),
        ("YUE2_RESULT_MAX_BYTES", 1, 1024**4),
        ("YUE2_RESULT_MAX_FILES", 1, 10000),
        ("YUE2_SYNC_DEADLINE_SECONDS", 1, 86400),
        ("YUE2_PORT", 0, 65535),
        ("YUE2_IDLE_UNLOAD_SECONDS", 0, 86400),
        ("YUE2_SOUND_THREADS", 0, 256),
    ],
)
def test_numbers_hold_their_bounds(name: str, low: int, high: int) -> None:
    field = name.removeprefix("YUE2_").lower()
    assert getattr(load({name: str(low)}), field) == low
    assert getattr(load({name: str(high)}), field) == high
    for wrong in (low - 1, high + 1):
        with pytest.raises(SettingsError) as caught:
            load({name: str(wrong)})
        assert str(caught.value) == f"{name} must be a whole number from {low} to {high}; it is '{wrong}'."


@pytest.mark.parametrize("wrong", ["many", "8.5", "nan", "0x8", "8 9"])
def test_a_number_must_be_whole(wrong: str) -> None:
    with pytest.raises(SettingsError, match=r"YUE2_QUEUE_LIMIT must be a whole number from 1 to 128; it is"):
        load({"YUE2_QUEUE_LIMIT": wrong})


def test_an_empty_variable_counts_as_unset() -> None:
    assert load({"YUE2_QUEUE_LIMIT": " ", "YUE2_API_KEYS": ""}) == load({})


def test_keys_are_read_and_never_shown() -> None:
    settings = load({"YUE2_API_KEYS": "ann=0123456789abcdef=, bob-2=ABCDEFGHIJKLMNOP"})
    assert settings.api_keys == (ApiKey("ann", "0123456789abcdef="), ApiKey("bob-2", "ABCDEFGHIJKLMNOP"))
    assert "0123456789abcdef" not in repr(settings)
    assert "0123456789abcdef" not in repr(settings.api_keys)


@pytest.mark.parametrize(
    "wrong",
    [
        "0123456789abcdef",
        "ann=short",
        "Ann=0123456789abcdef",
        "=0123456789abcdef",
        "ann=0123456789 abcdef",
        "ann=0123456789abcdé!",
        "ann=0123456789abcdef,ann=0123456789abcdeX",
        "ann=0123456789abcdef,bob=0123456789abcdef",
    ],
)
def test_wrong_keys_stop_the_start_without_being_shown(wrong: str) -> None:
    with pytest.raises(SettingsError, match="YUE2_API_KEYS must be entries name=key") as caught:
        load({"YUE2_API_KEYS": wrong})
    assert wrong not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("empty", [",", " , ,"])
def test_a_list_of_no_keys_does_not_open_the_server(empty: str) -> None:
    with pytest.raises(SettingsError, match="YUE2_API_KEYS"):
        load({"YUE2_API_KEYS": empty})


def test_lists_are_split_and_lowered() -> None:
    settings = load(
        {"YUE2_ALLOWED_HOSTS": "Music.Example., *", "YUE2_ALLOWED_ORIGINS": "https://Studio.example/"}
    )
    assert settings.allowed_hosts == ("music.example", "*")
    assert settings.allowed_origins == ("https://studio.example",)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("YUE2_ALLOWED_HOSTS", "http://music.example"),
        ("YUE2_ALLOWED_ORIGINS", "studio.example"),
        ("YUE2_ALLOWED_ORIGINS", "*"),
        ("YUE2_LOG_LEVEL", "loud"),
        ("YUE2_HOST", "my host"),
        ("YUE2_DEVICE", "gpu"),
        ("YUE2_DEVICE", "cuda:"),
        ("YUE2_PRECISION", "int8"),
        ("YUE2_RESIDENCY", "swap"),
    ],
)
def test_a_wrong_word_is_named_with_what_would_do(variable: str, value: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load({variable: value})
    row = next(row for row in describe() if row.variable == variable)
    assert str(caught.value) == f"{variable} must be {row.bounds}; it is {value!r}."


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("https://studio.example", "https://studio.example"),
        (" HTTP://Studio.Example:8443/ ", "HTTP://Studio.Example:8443"),
        ("http://[::1]:8000", "http://[::1]:8000"),
        ("https://example.org/music/studio/", "https://example.org/music/studio"),
    ],
)
def test_a_public_address_is_taken_without_the_slash_at_its_end(written: str, read: str) -> None:
    assert load({"YUE2_PUBLIC_URL": written}).public_url == read
    assert load({}).public_url == ""


@pytest.mark.parametrize(
    "wrong",
    [
        *("/", "studio.example", "ftp://x", "https://", "https:///x", "https://a//b", "https://me:it@x"),
        *("https://x?y=1", "https://x#y", "https://x/a b", "https://x:123456", "https://x\nHost: y"),
    ],
)
def test_a_public_address_is_a_url_and_no_more(wrong: str) -> None:
    with pytest.raises(SettingsError, match="YUE2_PUBLIC_URL must be a URL of http or https"):
        load({"YUE2_PUBLIC_URL": wrong})


@pytest.mark.parametrize("folder", ["agent-artifacts", "/somewhere/agent-artifacts/", "Agent-Artifacts"])
def test_results_do_not_lie_where_agents_files_do(folder: str) -> None:
    with pytest.raises(
        SettingsError, match=r"YUE2_RESULT_DIR is '.*', but the folder agent-artifacts is for"
    ) as told:
        load({"YUE2_RESULT_DIR": folder})
    assert str(told.value).endswith("such as jobs.")
    assert load({"YUE2_RESULT_DIR": f"{folder}/jobs"}).artifacts_directory.name == "agent-artifacts"


@pytest.mark.parametrize("device", ["auto", "cpu", "cuda", "cuda:0", "cuda:15", "CUDA:1"])
def test_a_device_is_taken(device: str) -> None:
    assert load({"YUE2_DEVICE": device}).device == device.lower()


def test_the_weights_of_yue2_come_with_those_of_its_codec() -> None:
    assert (load({}).model, load({}).vae) == (None, None)
    both = load({"YUE2_MODEL": "weights/yue2", "YUE2_VAE": "weights/vae"})
    assert (both.model, both.vae) == (Path("weights/yue2"), Path("weights/vae"))
    for one, other in (("YUE2_MODEL", "YUE2_VAE"), ("YUE2_VAE", "YUE2_MODEL")):
        with pytest.raises(SettingsError) as caught:
            load({one: "somewhere", other: " "})
        assert str(caught.value) == f"{one} is set but {other} is not; set both for YuE2, or neither."


def test_settings_do_not_change_and_do_not_read_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("YUE2_QUEUE_LIMIT", "3")
    settings = Settings()
    assert settings.queue_limit == 8
    with pytest.raises(ValidationError):
        settings.queue_limit = 4


def test_a_slip_of_the_pen_is_pointed_out() -> None:
    known = {"YUE2_QUEUE_LIMIT": "8", "YUE2_MODEL": "x", "YUE2_VAE": "x", "PATH": "/bin"}
    assert unknown_variables(known) == []
    assert unknown_variables({"YUE2_QUEUE_LIMITS": "8", "YUE2_ZZZZ": ""}) == [
        "YUE2_QUEUE_LIMITS is set but is no setting of this server; did you mean YUE2_QUEUE_LIMIT?",
        "YUE2_ZZZZ is set but is no setting of this server; remove it, or look its name up in the documentation.",
    ]


def test_every_setting_is_described() -> None:
    rows = describe()
    assert len(rows) == len(Settings.model_fields)
    assert all(
        row.variable.startswith("YUE2_") and row.bounds and row.help.endswith((".", "`")) for row in rows
    )
    assert next(row.default for row in rows if row.variable == "YUE2_RESULT_MAX_BYTES") == "10737418240"
