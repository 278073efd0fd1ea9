"""The files that hibari's reading of words consists of, and a check that they are those that were tried."""

import gzip
from typing import TYPE_CHECKING, Final

from engine import json_slices
from engine.pinned import PinnedFile
from engine.speech.network import VERSION

if TYPE_CHECKING:
    from hibari.g2p import G2P

SHARED: Final = {
    "normalize.json": "d478ff05404bc43ac3e0468e306674e51085f1b1afc94cdef7c7ea4fb0d56bd8",
    "tagger.json.gz": "d2da7502284bbbe45d49e0b7ce3ce67bdab82254150f4317f1b8559b4d38d0eb",
    "tokenizer_exceptions.json": "ddf3a3da07bdcf5144270ea4530191d8580fb4fd6f5ae93296e87916e795659a",
}
AMERICAN: Final = {
    "lexicon_us_gold.json.gz": "63ae94f8ef0e906d5b24fe9b59ffcbd1529aca5686a774610e43973cbaa86ad2",
    "lexicon_us_silver.json.gz": "c4c2546ebf1eb07010331e7ef785a431aa17ba8e7bfb6b4af8d654ee96a71fd3",
    "oov.json": "b462e6e5dbdf0e7346c732385d0dd844f612f1770871441c56932bff4ca75d8c",
    "oov.onnx": "d3cfd8122c5f172a98c8de38268bf1213ee09f2c2ae4df6e055fc6532590fe76",
}
BRITISH: Final = {
    "lexicon_gb_gold.json.gz": "66e675f23eb007d6707d23fe6603ba5e19f3513aefe42e3c8cd6c078a85f2ce0",
    "lexicon_gb_silver.json.gz": "637f887dd557d193af8c106f5c26624850db3e7bf0ec751ba917aac6d75e948d",
    "oov_gb.json": "e29077fc3548f08f2fab82a87e03309f614658d91d0ba464e653265e9a4d0cad",
    "oov_gb.onnx": "0997e3219543247de5646078d770f8ca77011d8fd0abb29fe48d12c60f53e9e1",
}


def verify(british: bool) -> None:
    """Read through the files of one accent (some 6 MB, a few milliseconds). Raises CheckpointError."""
    for name in {**SHARED, **_accent(british)}:
        _pinned(name, british).verified()


def open_reader(british: bool) -> "G2P":
    """hibari's reading with its dictionaries, as its own `__init__` makes it, which holds every other thread up for long.

    Raises CheckpointError.
    """
    from hibari.g2p import G2P
    from hibari.g2p.lexicon import Lexicon
    from hibari.g2p.tagger import Tagger
    from hibari.g2p.tokenize import Tokenizer

    verify(british)
    gold, silver = (_content(name, british) for name in _accent(british) if name.startswith("lexicon_"))
    reader = G2P.__new__(G2P)
    reader.lexicon = Lexicon(gold, silver, british)
    reader.tokenizer = Tokenizer(_content("tokenizer_exceptions.json", british))
    reader.tagger = Tagger(_content("tagger.json.gz", british))
    reader._oov = None
    reader.unk = ""
    reader.british = british
    return reader


def _accent(british: bool) -> dict[str, str]:
    return BRITISH if british else AMERICAN


def _pinned(name: str, british: bool) -> PinnedFile:
    digest = {**SHARED, **_accent(british)}[name]
    return PinnedFile("hibari-tts", VERSION, f"hibari/assets/{name}", digest)


def _content(name: str, british: bool) -> object:
    octets = _pinned(name, british).read()
    return json_slices.loads(gzip.decompress(octets) if name.endswith(".gz") else octets)
