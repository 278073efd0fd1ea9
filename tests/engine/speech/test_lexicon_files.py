"""Words are read by the files that were tried, of either accent."""

from collections.abc import Callable

import pytest

from engine.errors import CheckpointError
from engine.speech.lexicon_files import AMERICAN, BRITISH, SHARED, verify
from engine.speech.phonemes import Phonemiser


@pytest.mark.parametrize(
    ("name", "british"),
    [
        *((name, british) for name in SHARED for british in (False, True)),
        *((name, False) for name in AMERICAN),
        *((name, True) for name in BRITISH),
    ],
)
def test_nothing_is_read_by_a_changed_file(name: str, british: bool, change: Callable[[str], None]) -> None:
    change(f"hibari/assets/{name}")
    with pytest.raises(CheckpointError, match="is not the file of hibari-tts"):
        Phonemiser(british).read("a")


def test_an_accent_needs_its_own_files_alone(change: Callable[[str], None]) -> None:
    change(f"hibari/assets/{next(iter(BRITISH))}")
    verify(british=False)
    with pytest.raises(CheckpointError):
        verify(british=True)
