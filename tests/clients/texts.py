"""What is said in these tests, and how two texts are compared."""

import re
from difflib import SequenceMatcher

TEXT = "The morning train leaves at nine. We will meet near the old stone bridge, and walk to the river."


def words(text: str) -> list[str]:
    """The words, without case and points."""
    return re.findall(r"[a-z']+", text.lower())


def is_understood(heard: str, said: str = TEXT) -> bool:
    """Whether the words are those that were said; one in ten may be misheard."""
    return SequenceMatcher(None, words(heard), words(said), autojunk=False).ratio() >= 0.9
