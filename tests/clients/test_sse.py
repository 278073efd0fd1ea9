"""The reader of events, on the examples of the standard and at every cut."""

import pytest

from tests.clients.sse import Event, events

pytestmark = pytest.mark.runtime
STREAM = b": a comment\n\ndata: first\ndata: line\n\nevent: add\rdata:73857293\r\r\nid: 1\ndata: \xc3\xa9\r\n\r\ndata\n\ndata: lost"
SEEN = [
    Event("message", "first\nline"),
    Event("add", "73857293"),
    Event("message", "é"),
    Event("message", ""),
]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_a_stream_is_read_the_same_however_it_is_cut(size: int) -> None:
    cut = [STREAM[at : at + size] for at in range(0, len(STREAM), size)]
    assert list(events(cut)) == SEEN
