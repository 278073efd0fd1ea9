"""What songs, speech and transcripts are like, in numbers and pictures: `python -m bench.sound`."""
