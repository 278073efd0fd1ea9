"""Transcripts as answers tell them."""

from engine.transcription_model import Segment, Transcript, transcript_as_json
from engine.words import Word


def test_a_transcript_is_told_with_its_segments_and_all_its_words() -> None:
    first = Segment(0.0, 1.0004, "One.", (Word("One.", 0.1, 0.9),), (7, 8), 0.2, -0.123456, 1.0, 0.00001)
    second = Segment(2.0, 3.0, "Two.", (Word("Two.", 2.1, 2.9),), (), 0.0, -0.5, 1.0, 0.5, " ")
    told = transcript_as_json(Transcript("One. Two.", "en", 0.98765, 3.2104, (first, second), ("A note.",)))
    assert told == {
        "text": "One. Two.",
        "language": "en",
        "language_probability": 0.9877,
        "seconds": 3.21,
        "segments": [
            {
                "start": 0.0,
                "end": 1.0,
                "text": "One.",
                "words": [{"word": "One.", "start": 0.1, "end": 0.9}],
                "tokens": [7, 8],
                "temperature": 0.2,
                "average_log_probability": -0.1235,
                "compression_ratio": 1.0,
                "no_speech_probability": 0.0,
                "blank": "",
            },
            {
                "start": 2.0,
                "end": 3.0,
                "text": "Two.",
                "words": [{"word": "Two.", "start": 2.1, "end": 2.9}],
                "tokens": [],
                "temperature": 0.0,
                "average_log_probability": -0.5,
                "compression_ratio": 1.0,
                "no_speech_probability": 0.5,
                "blank": " ",
            },
        ],
        "words": [
            {"word": "One.", "start": 0.1, "end": 0.9},
            {"word": "Two.", "start": 2.1, "end": 2.9},
        ],
    }
