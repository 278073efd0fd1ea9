"""The serial queue, its jobs and the one worker thread; standard library only."""
