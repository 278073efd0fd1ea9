"""Which files are fetched."""

import pytest

from server.commands.hub_errors import WrongRepository
from server.commands.model_files import Digest, Listing, RemoteFile, audio_decoder, language_model, needed

LEAST = ("config.json", "weights_manifest.json", "model.safetensors")


def listing(*paths: str) -> Listing:
    return Listing(
        "m-a-p/YuE2-Vae",
        "main",
        "c" * 40,
        tuple(RemoteFile(path, 1, Digest("git", "0" * 40)) for path in paths),
    )


@pytest.mark.parametrize(
    "path",
    [
        "generation_config.json",
        "model-00001-of-00002.safetensors",
        "model.safetensors.index.json",
        "qwen.tiktoken",
        "LICENSE",
        "NOTICE.txt",
        "licenses/a-MIT.md",
    ],
)
def test_weights_and_what_belongs_to_them_are_needed(path: str) -> None:
    kept = needed(audio_decoder("m-a-p/YuE2-Vae"), listing(*LEAST, path))
    assert path in [file.path for file in kept.files]


@pytest.mark.parametrize(
    "path",
    [
        "config.json.py",
        "config.json/../../x",
        "../config.json",
        "/config.json",
        "x/config.json",
        "config.json\n",
        ".config.json",
        "licenses/../x.md",
        "licenses/a.md/x",
        "licenses/a.md.py",
        "LICENSE.py",
        "LICENSE/x",
        "model.safetensors.py",
        "model.safetensors/../x",
        "model-1-of-2.safetensors",
        "pytorch_model.bin",
        "modeling.py",
        "README.md",
    ],
)
def test_nothing_else_is_nor_what_leaves_the_folder(path: str) -> None:
    kept = needed(audio_decoder("m-a-p/YuE2-Vae"), listing(*LEAST, path))
    assert sorted(file.path for file in kept.files) == sorted(LEAST)


def test_weights_come_last() -> None:
    kept = needed(audio_decoder("m-a-p/YuE2-Vae"), listing("model.safetensors", *LEAST[:2], "LICENSE"))
    assert [file.path for file in kept.files] == [
        "LICENSE",
        "config.json",
        "weights_manifest.json",
        "model.safetensors",
    ]


def test_what_lacks_is_told() -> None:
    with pytest.raises(
        WrongRepository, match=r"no yue2_generation_config\.json or qwen\.tiktoken and so is no language"
    ):
        needed(language_model("m-a-p/YuE2-Vae"), listing(*LEAST))


def test_a_file_that_is_listed_twice_is_refused() -> None:
    with pytest.raises(WrongRepository, match=r"lists config\.json more than once"):
        needed(audio_decoder("m-a-p/YuE2-Vae"), listing(*LEAST, "config.json"))
