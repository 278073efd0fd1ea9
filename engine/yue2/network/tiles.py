"""How many rows are computed at once: all of them on an accelerator, as many as stay in its caches on a processor.

A processor takes so long for a layer of a long song that a stop would be heard late; tiles are where it is heard.
"""

from collections.abc import Iterator

import torch

from engine.yue2.files.config import ModelConfig

PRODUCT_ROWS = 256
ATTENTION_OPERATIONS = 4 * 10**9  # of one tile, for each thread: 45 to 100 ms on one core with AVX-512
SOFTMAX_OPERATIONS = (
    128  # what exponential and sums of one head's score cost, measured; most of small heads' time
)
LEAST_ATTENTION_ROWS = 16
ALL_ROWS = 2**31


def product_rows(device: torch.device) -> int:
    """Rows of one tile of the products with weights."""
    return PRODUCT_ROWS if device.type == "cpu" else ALL_ROWS


def attention_rows(device: torch.device, length: int, config: ModelConfig) -> int:
    """Rows of one tile of attention to `length` positions."""
    if device.type != "cpu":
        return ALL_ROWS
    operations = length * (4 * config.q_width + SOFTMAX_OPERATIONS * config.heads)  # of one row
    return max(LEAST_ATTENTION_ROWS, ATTENTION_OPERATIONS * torch.get_num_threads() // operations)


def spans(rows: int, at_once: int) -> Iterator[slice]:
    """Slices that cover `rows`, each of at most `at_once`, as equal as can be."""
    count = max(1, -(-rows // at_once))
    for index in range(count):
        yield slice(rows * index // count, rows * (index + 1) // count)
