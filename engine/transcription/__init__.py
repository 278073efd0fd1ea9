"""Audio into text: speech found, windows decoded by Whisper, words aligned and kept within the speech."""
