"""Text to the model's token ids and back: byte-level BPE over the ranks of `qwen.tiktoken`.

The file has a line `base64(bytes) rank` for each token in the order of ranks, 0 to 151642. It is part of the model
and the same in every release, so another file is refused by its digest.
"""

import hashlib
from binascii import a2b_base64
from collections.abc import Iterable
from pathlib import Path

import tiktoken

from engine.yue2.files.faults import unreadable, unusable
from engine.yue2.files.regular import open_regular
from engine.yue2.text.normal_form import nfc
from engine.yue2.vocabulary import END_OF_DOCUMENT, SCORE_END, SCORE_START, TOKENIZER_IDS

RANKS_FILE = "qwen.tiktoken"
RANKS_SHA256 = "b2b1b8dfb5cc5f024bafc373121c6aba3f66f9a5a0269e243470a1de16a33186"
RANKS_BYTES = 2_561_218
PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
UNUSED_SPECIALS = ("<|im_start|>", "<|im_end|>", "<R>", "<S>", "<X>", "<mask>", "<sep>")
EXTRAS = 200  # specials without a use of their own, two of which became the score's start and end


class Tokenizer:
    """The tokenizer of a model's folder; it never changes, so any number of threads may use it at once.

    Raises CheckpointError where `qwen.tiktoken` is missing or another one.
    """

    def __init__(self, folder: Path) -> None:
        words = _ranks(folder).split()
        self._encoding = tiktoken.Encoding(
            "yue2",
            pat_str=PATTERN,
            mergeable_ranks=dict(zip(map(a2b_base64, words[::2]), range(END_OF_DOCUMENT), strict=True)),
            special_tokens=special_ids(),
        )

    def encode(self, text: str) -> tuple[int, ...]:
        """The ids of the text in NFC, all below 151643; names of special tokens in it are ordinary characters."""
        return tuple(self._encoding.encode_ordinary(nfc(text)))

    def decode(self, ids: Iterable[int]) -> str:
        """The text of ids; those from 151851 on have none, and bytes that are no UTF-8 become U+FFFD."""
        known = [token for token in ids if 0 <= token < TOKENIZER_IDS]
        return self._encoding.decode_bytes(known).decode("utf-8", errors="replace")


def special_ids() -> dict[str, int]:
    """The tokenizer's 208 special tokens by name, 151643 to 151850."""
    names = ["<|endoftext|>", *UNUSED_SPECIALS, *(f"<extra_{number}>" for number in range(EXTRAS))]
    ids = {name: END_OF_DOCUMENT + place for place, name in enumerate(names)}
    renamed = {SCORE_START: "<abc>", SCORE_END: "</abc>"}
    return {renamed.get(token, name): token for name, token in ids.items()}


def _ranks(folder: Path) -> bytes:
    try:
        with open_regular(folder / RANKS_FILE) as stream:
            raw = stream.read(RANKS_BYTES + 1)  # not all of whatever else lies there
    except (FileNotFoundError, NotADirectoryError) as error:
        raise unusable(folder, f"{RANKS_FILE} is missing") from error
    except OSError as error:
        raise unreadable(folder, RANKS_FILE, error) from error
    if hashlib.sha256(raw).hexdigest() != RANKS_SHA256:
        raise unusable(
            folder, f"{RANKS_FILE} is not the released one, with 151643 tokens and {RANKS_BYTES} bytes"
        )
    return raw
