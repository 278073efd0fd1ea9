"""The reference's acoustic stage: its arrays, and the tokens that it attends to."""

from collections.abc import Mapping

import numpy as np
import pytest
from numpy.typing import NDArray

from tests.engine.yue2.conftest import Golden

Arrays = Mapping[str, NDArray[np.float32]]


@pytest.fixture(scope="module")
def arrays(golden: Golden) -> Arrays:
    return golden.arrays("nar")


@pytest.fixture(scope="module")
def tokens(arrays: Arrays) -> list[int]:
    return [int(token) for token in arrays["ar_tokens"]]
