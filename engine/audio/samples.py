"""The one array type that audio travels in."""

import numpy as np
from numpy.typing import NDArray

Samples = NDArray[np.float32]  # (N, C): frames by channels, full scale at ±1
