"""One running product for the routes' tests."""

from collections.abc import Iterator

import pytest

from tests.server.product import Product, product


@pytest.fixture(scope="package")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    """The product, shared by tests that leave its queue empty."""
    with product(tmp_path_factory.mktemp("studio")) as running:
        yield running
