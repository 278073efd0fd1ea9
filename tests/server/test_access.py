import stat
from contextlib import nullcontext
from pathlib import Path

import pytest
from starlette.datastructures import Headers

from server.access import HostRule, Keys, OriginRule, PublicPaths, forgotten_cookie, load_secret
from server.errors import ForbiddenHost, ForbiddenOrigin, Unauthorized
from server.settings import ApiKey

RULE = HostRule.of("0.0.0.0", "Workshop", ["music.example"])
ANN, BOB = ApiKey("ann", "a" * 16), ApiKey("bob", "b" * 16)
KEYS = Keys([ANN, BOB], b"s" * 32)


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "LocalHost:8000",
        "127.0.0.1",
        "127.0.0.1:8000",
        "192.168.1.20:8000",
        "[::1]:8000",
        "[fd00::12]",
        "0.0.0.0:8000",
        "workshop",
        "Workshop.local:8000",
        "music.example",
        "MUSIC.example.:443",
    ],
)
def test_addresses_and_our_own_names_are_served(host: str) -> None:
    RULE.check([host])
    assert HostRule.of("127.0.0.1", "x", ["*"]).any_name


@pytest.mark.parametrize(
    "hosts",
    [
        ["evil.example"],
        ["localhost.evil.example"],
        ["music.example.evil.example:8000"],
        ["127.0.0.1.evil.example"],
        ["::1"],
        ["[::1"],
        ["[evil]"],
        ["local host"],
        ["localhost:port"],
        ["user@localhost"],
        ["localhost/x"],
        [""],
        [],
        ["localhost", "localhost"],
    ],
)
def test_other_names_and_broken_ones_are_refused(hosts: list[str]) -> None:
    with pytest.raises(ForbiddenHost, match="YUE2_ALLOWED_HOSTS"):
        RULE.check(hosts)


def test_any_name_may_be_allowed_but_it_must_be_one() -> None:
    rule = HostRule.of("127.0.0.1", "workshop", ["*"])
    rule.check(["whatever.example:8000"])
    with pytest.raises(ForbiddenHost):
        rule.check(["what ever"])


@pytest.mark.parametrize("machine", ["", "workshop"])
def test_a_machine_without_a_name_adds_no_empty_one(machine: str) -> None:
    assert not HostRule.of("127.0.0.1", machine, []).names & {"", ".local"}


ORIGINS = OriginRule(frozenset({"https://studio.example"}))


@pytest.mark.parametrize(
    ("origins", "host"),
    [
        ([], "localhost:8000"),
        (["http://localhost:8000"], "localhost:8000"),
        (["http://LOCALHOST:8000"], "localhost:8000"),
        (["http://music.example"], "music.example"),
        (["http://music.example"], "music.example:80"),
        (["https://music.example"], "music.example"),
        (["https://music.example:443"], "music.example"),
        (["http://[::1]:8000"], "[::1]:8000"),
        (["https://studio.example"], "localhost:8000"),
    ],
)
def test_our_own_pages_and_listed_ones_may_call(origins: list[str], host: str) -> None:
    ORIGINS.check(origins, host)
    assert ORIGINS.listed == {"https://studio.example"}


@pytest.mark.parametrize(
    ("origins", "host"),
    [
        (["null"], "localhost:8000"),
        ([""], "localhost:8000"),
        (["http://localhost:3000"], "localhost:8000"),
        (["http://localhost"], "localhost:8000"),
        (["http://127.0.0.1:8000"], "localhost:8000"),
        (["https://localhost"], "localhost:80"),
        (["http://evil.example"], "localhost:8000"),
        (["http://studio.example"], "localhost:8000"),
        (["https://studio.example:8443"], "localhost:8000"),
        (["file://localhost:8000"], "localhost:8000"),
        (["http://localhost:8000/x"], "localhost:8000"),
        (["http://localhost:8000", "http://localhost:8000"], "localhost:8000"),
    ],
)
def test_other_pages_are_refused(origins: list[str], host: str) -> None:
    with pytest.raises(ForbiddenOrigin, match="YUE2_ALLOWED_ORIGINS"):
        ORIGINS.check(origins, host)


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": f"Bearer {BOB.key}"},
        {"Authorization": f"bearer  {BOB.key} "},
        {"X-Api-Key": BOB.key},
        {"Xi-Api-Key": BOB.key},
        {"Authorization": "Basic eA==", "X-Api-Key": BOB.key},
        {"Cookie": f"theme=dark; yue2_key={KEYS.cookie('bob')}; x=y"},
        {"Cookie": f"yue2_key={KEYS.cookie('bob')}", "Authorization": "Basic eA=="},
    ],
)
def test_a_caller_is_known_by_the_key_or_its_cookie(headers: dict[str, str]) -> None:
    assert KEYS.owner(Headers(headers)) == "bob"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Authorization": "Bearer "},
        {"Authorization": f"Bearer {BOB.key}x"},
        {"Authorization": BOB.key},
        {"X-Api-Key": ""},
        {"X-Api-Key": "ü" * 16},
        {"Cookie": f"yue2_key={BOB.key}"},
        {"Cookie": "yue2_key="},
        {"Cookie": f"other={KEYS.cookie('bob')}"},
        {"Cookie": f"yue2_key=ann.{KEYS.cookie('bob').partition('.')[2]}"},
        {"Cookie": f"yue2_key={KEYS.cookie('bob')}", "X-Api-Key": "wrong"},
    ],
)
def test_anything_else_is_nobody(headers: dict[str, str]) -> None:
    with pytest.raises(Unauthorized):
        KEYS.owner(Headers(headers))


@pytest.mark.parametrize(
    "headers", [{}, {"Authorization": "Bearer "}, {"X-Api-Key": ""}, {"Cookie": "theme=dark"}]
)
def test_a_key_that_is_missing_is_told_apart_from_a_wrong_one(headers: dict[str, str]) -> None:
    with pytest.raises(Unauthorized, match="none came with the request; send one"):
        KEYS.owner(Headers(headers))


@pytest.mark.parametrize(
    "headers",
    [{"Authorization": f"Bearer {BOB.key}x"}, {"Xi-Api-Key": "bob"}, {"Cookie": "yue2_key=ann.00"}],
)
def test_a_wrong_key_is_told_alike_whosever_it_may_be(headers: dict[str, str]) -> None:
    with pytest.raises(Unauthorized, match="none that came with the request is known here; send one") as told:
        KEYS.owner(Headers(headers))
    assert "a client that takes an api_key sends it so" in str(told.value)
    assert "OpenAI" not in str(told.value)  # agents' clients are told it too
    assert str(told.value) == str(Unauthorized())


def test_without_keys_everybody_is_the_nameless_owner() -> None:
    keys = Keys([], b"s" * 32)
    assert not keys.needed
    assert keys.owner(Headers({"Authorization": "Bearer anything"})) == ""


def test_a_cookie_holds_no_key_and_dies_with_key_or_secret() -> None:
    cookie = KEYS.cookie("ann")
    assert ANN.key not in cookie
    for other in (Keys([ApiKey("ann", "c" * 16)], b"s" * 32), Keys([ANN], b"t" * 32), Keys([BOB], b"s" * 32)):
        with pytest.raises(Unauthorized):
            other.owner(Headers({"Cookie": f"yue2_key={cookie}"}))
    assert Keys([ANN], b"s" * 32).owner(Headers({"Cookie": f"yue2_key={cookie}"})) == "ann"
    with pytest.raises(Unauthorized):
        KEYS.cookie("carol")


def test_the_cookie_is_kept_from_scripts_and_other_sites() -> None:
    header = KEYS.cookie_header("ann", secure=False)
    assert header.endswith("Max-Age=2592000; Path=/; HttpOnly; SameSite=Strict")
    assert KEYS.cookie_header("ann", secure=True).endswith("; Secure")
    assert forgotten_cookie().startswith("yue2_key=; Max-Age=0;")


def test_public_paths_are_exact_or_below_a_folder() -> None:
    public = PublicPaths(frozenset({"/", "/health"}), ("/assets/",))
    assert all(path in public for path in ("/", "/health", "/assets/app.js"))
    assert not any(path in public for path in ("/job", "/health/", "/assets", "//"))
    assert "/job" not in PublicPaths(frozenset())


def test_the_secret_is_drawn_once_and_kept_private(tmp_path: Path) -> None:
    drawn: list[int] = []

    def draw(size: int) -> bytes:
        drawn.append(size)
        return bytes(range(size))

    folder = tmp_path / "state"
    assert load_secret(folder, draw) == load_secret(folder, draw) == bytes(range(32))
    assert drawn == [32]
    (file,) = folder.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_damaged_secret_is_replaced(tmp_path: Path) -> None:
    load_secret(tmp_path, lambda size: b"a" * size)
    (file,) = tmp_path.iterdir()
    file.write_bytes(b"short")
    assert load_secret(tmp_path, lambda size: b"b" * size) == b"b" * 32


@pytest.mark.parametrize(
    ("listed", "site", "mode", "refused"),
    [
        (set(), "cross-site", "no-cors", True),
        (set(), "cross-site", "navigate", False),
        (set(), "same-origin", "no-cors", False),
        (set(), "none", "navigate", False),
        ({"https://studio.example"}, "cross-site", "no-cors", False),
    ],
)
def test_parts_of_foreign_pages_are_refused_although_they_have_no_origin(
    listed: set[str], site: str, mode: str, refused: bool
) -> None:
    rule = OriginRule(frozenset(listed))
    expected = pytest.raises(ForbiddenOrigin) if refused else nullcontext("let through")
    with expected as outcome:
        rule.check([], "127.0.0.1:8000", site, mode)
    assert (outcome == "let through") is not refused
