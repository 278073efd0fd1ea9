from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import process_time

import pytest

from engine.errors import CheckpointError
from engine.yue2.text.normal_form import nfc
from engine.yue2.text.tokenizer import RANKS_FILE, Tokenizer, special_ids
from engine.yue2.vocabulary import TEXT_IDS
from tests.engine.yue2.conftest import Golden


def test_texts_have_the_references_ids(tokenizer: Tokenizer, golden: Golden) -> None:
    cases = golden.cases("tokenizer_cases")["cases"]
    assert len(cases) == 52
    for case in cases:
        assert nfc(case["text"]) == case["nfc"]
        assert tokenizer.encode(case["text"]) == tuple(case["ids"])


def test_ids_have_the_references_text(tokenizer: Tokenizer, golden: Golden) -> None:
    for case in golden.cases("tokenizer_cases")["decode_cases"]:
        assert tokenizer.decode(case["ids"]) == case["text"]
    assert tokenizer.decode([-1, 5, 151_851, 10**12]) == "&"


def test_specials_have_the_references_ids(golden: Golden) -> None:
    ids = special_ids()
    assert golden.cases("tokenizer_cases")["special_ids"].items() <= ids.items()
    assert sorted(ids.values()) == list(range(151_643, 151_851))


def test_names_of_specials_in_a_text_are_ordinary_characters(tokenizer: Tokenizer) -> None:
    text = "".join(special_ids())
    ids = tokenizer.encode(text)
    assert max(ids) < TEXT_IDS
    assert tokenizer.decode(ids) == text


def test_half_a_surrogate_pair_becomes_a_replacement_character(tokenizer: Tokenizer) -> None:
    assert tokenizer.decode(tokenizer.encode("a\ud83cb")) == "a\ufffdb"


@pytest.mark.parametrize(
    "text",
    [
        "a" * 32_000,
        " " * 32_000 + "x",
        "\n" * 32_000,
        " \t" * 16_000,
        "\u00a0" * 32_000,
        "'" * 32_000,
        "1" * 32_000,
        "a" + "\u0301" * 32_000,
        "\u0323\u0301" * 16_000,
        "\U0001f3b5" * 32_000,
        "\u6b4c" * 32_000,
        '"Am"C2 z4 | ^F/2\nV: Vocal\n' * 10_000,
    ],
    ids=[
        "letters",
        "spaces",
        "lines",
        "tabs",
        "nbsp",
        "'",
        "digits",
        "marks",
        "orders",
        "emoji",
        "cjk",
        "abc",
    ],
)
def test_long_and_odd_texts_are_read_at_once(tokenizer: Tokenizer, text: str) -> None:
    start = process_time()
    ids = tokenizer.encode(text)
    assert process_time() - start < 0.5
    assert tokenizer.decode(ids) == nfc(text)


def test_threads_share_a_tokenizer(tokenizer: Tokenizer) -> None:
    texts = [f"verse {number}: {'la ' * number}" for number in range(64)]
    wanted = [tokenizer.encode(text) for text in texts]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(tokenizer.encode, texts)) == wanted
        assert list(threads.map(tokenizer.decode, wanted)) == texts


def test_another_set_of_ranks_is_refused(model_folder: Path, tmp_path: Path) -> None:
    raw = (model_folder / RANKS_FILE).read_bytes()
    lines = raw.splitlines(keepends=True)
    for other in (b"", raw[:-1], b"".join(lines[:-1]), raw + b"IQ== 151643\n", b"\xff" * 100):
        (tmp_path / RANKS_FILE).write_bytes(other)
        with pytest.raises(
            CheckpointError, match=r"qwen\.tiktoken is not the released one, with 151643 tokens"
        ):
            Tokenizer(tmp_path)


def test_a_folder_without_ranks_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"qwen\.tiktoken is missing"):
        Tokenizer(tmp_path)
    (tmp_path / RANKS_FILE).mkdir()
    with pytest.raises(CheckpointError, match=r"qwen\.tiktoken in it cannot be read"):
        Tokenizer(tmp_path)
