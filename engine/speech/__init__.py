"""Text into speech: read out, split into sentences, given phonemes, turned into sound by a small network."""
