"""What is relied on of the inside of soundfile; where one of these fails, its message names what changed."""

import io
from importlib import metadata

import numpy as np
import soundfile


def test_the_version() -> None:
    version = metadata.version("soundfile")
    assert version.startswith("0.14."), "soundfile was upgraded: go through this file again"


def test_what_a_command_of_libsndfile_is_sent_with() -> None:
    assert hasattr(soundfile, "_ffi"), "the binding's own cffi is called otherwise"
    assert hasattr(soundfile, "_snd"), "the binding's library is called otherwise"
    sink = io.BytesIO()
    with soundfile.SoundFile(sink, "w", 24_000, 1, "OPUS", format="OGG") as file:
        assert soundfile._ffi.typeof(file._file).cname == "struct SNDFILE_tag *", (
            "the opened file lies elsewhere"
        )
        milliseconds = soundfile._ffi.new("double *", 200.0)
        size = soundfile._ffi.sizeof("double")
        assert soundfile._snd.sf_command(file._file, 0x1302, milliseconds, size) == 0, (
            "the command is refused"
        )


def test_a_file_that_cannot_be_sought_in_is_not() -> None:
    sink = io.BytesIO()
    soundfile.write(sink, np.zeros(100, np.float32), 8_000, format="WAV")
    sink.seek(0)
    with soundfile.SoundFile(sink) as file:
        assert file.seekable(), "seekable is no method any more"
        file.seekable = lambda: False
        file.seek = None
        assert len(file.read(out=np.empty((60, 1), np.float32))) == 60, (
            "reading seeks without asking seekable"
        )
        assert len(file.read(out=np.empty((60, 1), np.float32))) == 40, (
            "reading seeks without asking seekable"
        )
