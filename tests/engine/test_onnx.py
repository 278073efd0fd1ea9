"""Networks are opened without telling anybody."""

import os
import subprocess
import sys
from pathlib import Path

import onnxruntime
import pytest

from engine.onnx import open_network

SPEAK_AND_LISTEN = """
import io
import numpy as np
import soundfile
from engine.control import Uncontrolled
from engine.speech.network import SpeechNetwork, waveform
from engine.speech.phonemes import Phonemiser
from engine.transcription.voice_activity import SpeechDetector

words = Phonemiser().read("Zxqwv flumboozle.")
network = SpeechNetwork()
sound = waveform(network.spectra(network.known(words[0].phonemes)), np.random.default_rng(1))
print(len(SpeechDetector().recording().feed(sound)), len(sound) > 0)
"""


@pytest.mark.runtime
def test_nothing_is_kept_for_its_makers(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache"), "PATH": os.environ["PATH"]}
    said = subprocess.run(
        [sys.executable, "-c", SPEAK_AND_LISTEN], env=home, capture_output=True, text=True, check=True
    )
    assert said.stdout.split()[1] == "True"
    assert list(tmp_path.iterdir()) == []


def test_a_network_has_the_threads_it_was_given_and_they_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[onnxruntime.SessionOptions] = []
    monkeypatch.setattr(onnxruntime, "InferenceSession", lambda _, options, **__: asked.append(options))
    open_network(b"", 3)
    (options,) = asked
    assert (options.intra_op_num_threads, options.inter_op_num_threads) == (3, 1)
    assert options.get_session_config_entry("session.intra_op.allow_spinning") == "0"
