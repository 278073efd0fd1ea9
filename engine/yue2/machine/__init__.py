"""The machine that YuE2 runs on: device, memory, and what is loaded or done at once."""
