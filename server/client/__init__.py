"""Talking to a running server politely; knows nothing of the server's own code."""

from server.client.answers import JobUpdate, Submission
from server.client.client import Client
from server.client.download import WHOLE, Download, Part, Sink, audio, replay
from server.client.errors import (
    BadAddress,
    BadAnswer,
    ClientError,
    JobCancelled,
    JobFailed,
    JobLost,
    Refused,
    ResultChanged,
    Unreachable,
)

__all__ = [
    "WHOLE",
    "BadAddress",
    "BadAnswer",
    "Client",
    "ClientError",
    "Download",
    "JobCancelled",
    "JobFailed",
    "JobLost",
    "JobUpdate",
    "Part",
    "Refused",
    "ResultChanged",
    "Sink",
    "Submission",
    "Unreachable",
    "audio",
    "replay",
]
