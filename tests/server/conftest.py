"""For the tests of the server and of its client: what the system trusts is read once."""

from collections.abc import Iterator
from functools import cache

import httpcore2
import pytest


@pytest.fixture(scope="package", autouse=True)
def certificates_read_once() -> Iterator[None]:
    """A client reads those of the system even where it speaks plain HTTP, which takes longer than most tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(httpcore2, "default_ssl_context", cache(httpcore2.default_ssl_context))
        yield
