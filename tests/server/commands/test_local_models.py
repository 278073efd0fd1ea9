"""Models in this process, of which only those that are needed must be set up rightly."""

import pytest

from engine.errors import CheckpointError
from server.commands.local_models import listening, speaking
from server.errors import SettingsError


def test_whoever_speaks_needs_no_listener() -> None:
    assert speaking({"YUE2_WHISPER": "/nowhere", "YUE2_MODEL": "/nowhere"}).speech("").id
    with pytest.raises(CheckpointError):
        listening({"YUE2_WHISPER": "/nowhere"})


def test_other_settings_must_be_right() -> None:
    with pytest.raises(SettingsError, match="YUE2_SOUND_THREADS"):
        speaking({"YUE2_SOUND_THREADS": "many"})
