"""Networks are opened without telling anybody."""

import os
import subprocess
import sys
from pathlib import Path

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


def test_nothing_is_kept_for_its_makers(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache"), "PATH": os.environ["PATH"]}
    said = subprocess.run(
        [sys.executable, "-c", SPEAK_AND_LISTEN], env=home, capture_output=True, text=True, check=True
    )
    assert said.stdout.split()[1] == "True"
    assert list(tmp_path.iterdir()) == []
