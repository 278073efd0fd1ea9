"""Tensors and audio: scores, sound, models. Called by one thread; knows no job and no HTTP."""
