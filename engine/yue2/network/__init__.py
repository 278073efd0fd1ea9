"""The two halves of the YuE2 network over one cache, and the flow that the acoustic half solves."""
