"""Parts of a file read as one."""

import io

from hypothesis import given
from hypothesis import strategies as st

from engine.audio.spliced import Spliced

SPANS = st.lists(
    st.tuples(st.integers(0, 99), st.integers(0, 99)).map(lambda two: (min(two), max(two))), max_size=5
)


@given(
    st.binary(max_size=9), SPANS, st.lists(st.tuples(st.integers(0, 300), st.integers(-1, 60)), max_size=9)
)
def test_it_reads_like_the_parts_joined(
    head: bytes, spans: list[tuple[int, int]], steps: list[tuple[int, int]]
) -> None:
    file = io.BytesIO(bytes(range(100)))
    joined = io.BytesIO(head + b"".join(file.getvalue()[start:end] for start, end in spans))
    spliced = Spliced(head, file, spans)
    assert spliced.seek(0, io.SEEK_END) == joined.seek(0, io.SEEK_END)
    for place, size in steps:
        assert spliced.seek(place) == joined.seek(place)
        assert spliced.read(size) == joined.read(size)
        assert spliced.tell() == joined.tell()


def test_a_file_that_became_shorter_ends_sooner() -> None:
    assert Spliced(b"ab", io.BytesIO(b"cd"), [(0, 9)]).read() == b"abcd"
