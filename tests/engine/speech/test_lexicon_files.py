"""Words are read by the files that were tried, of either accent."""

import json
from collections.abc import Callable

import pytest
from hibari.g2p import G2P

from engine.errors import CheckpointError
from engine.speech.lexicon_files import AMERICAN, BRITISH, SHARED, open_reader, verify
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


@pytest.mark.parametrize("british", [False, True])
def test_it_is_opened_as_hibari_opens_it(british: bool) -> None:
    ours, theirs = open_reader(british), G2P(british=british)
    assert vars(ours).keys() == vars(theirs).keys()
    assert (ours._oov, ours.unk, ours.british) == (theirs._oov, theirs.unk, theirs.british)
    assert ours.lexicon.british == theirs.lexicon.british
    for part in ("golds", "silvers"):
        assert in_order(getattr(ours.lexicon, part).d) == in_order(getattr(theirs.lexicon, part).d)
    assert in_order(ours.tokenizer.special) == in_order(theirs.tokenizer.special)
    assert in_order(ours.tagger.tagdict) == in_order(theirs.tagger.tagdict)
    assert in_order(ours.tagger.weights) == in_order(theirs.tagger.weights)
    assert (ours.tagger.tags, ours.tagger.vocab) == (theirs.tagger.tags, theirs.tagger.vocab)


def in_order(dictionary: dict[str, object]) -> str:
    return json.dumps(dictionary)
