"""Keys and values of past positions, for all layers and several sequences."""

import torch

from engine.yue2.files.config import ModelConfig
from engine.yue2.network.allocation import allocate_zeros


class KvCache:
    """Keys after norm and rotation, and values, of `slots` sequences; owner of their memory.

    `keys` and `values` are (layers, slots, kv_heads, capacity, head_dim). `generation` changes with every new
    allocation, so that whoever recorded addresses (a captured graph) knows that they are stale. On a processor a slot
    takes memory only as far as it is written.
    """

    def __init__(
        self, config: ModelConfig, device: torch.device, dtype: torch.dtype, slots: int, capacity: int
    ) -> None:
        """Room for `slots` sequences of `capacity` positions; raises OutOfMemory."""
        self.device = device
        self.dtype = dtype
        self.capacity = capacity
        self.generation = 0
        self._layers, self._kv_heads, self._head_dim = config.layers, config.kv_heads, config.head_dim
        self.keys, self.values = self._allocate(slots), self._allocate(slots)

    @property
    def slots(self) -> int:
        """How many sequences there is room for."""
        return self.keys.shape[1]

    def reserve(self, slots: int) -> None:
        """Room for at least so many sequences; growing forgets what was kept, so it is done between songs only.

        Raises OutOfMemory, after which there are no slots.
        """
        if slots <= self.slots:
            return
        self.release()  # first, since there may be no room for both
        self.keys, self.values = self._allocate(slots), self._allocate(slots)

    def release(self) -> None:
        """Give all memory back; `reserve` takes it again."""
        self.generation += 1
        self.keys, self.values = self._allocate(0), self._allocate(0)

    def clear(self, slots: int) -> None:
        """Zero the first sequences: positions that a mask hides count nothing only where they hold finite numbers."""
        self.keys[:, :slots].zero_()
        self.values[:, :slots].zero_()

    def write(self, layer: int, slot: int, first: int, keys: torch.Tensor, values: torch.Tensor) -> None:
        """Keep keys and values, each (rows, kv_heads, head_dim), at positions first..first+rows-1."""
        last = first + keys.shape[0]
        self.keys[layer, slot, :, first:last].copy_(keys.transpose(0, 1))
        self.values[layer, slot, :, first:last].copy_(values.transpose(0, 1))

    def read(self, layer: int, slot: int, length: int) -> tuple[torch.Tensor, torch.Tensor]:
        """Keys and values of positions 0..length-1, each (kv_heads, length, head_dim); no copy."""
        return self.keys[layer, slot, :, :length], self.values[layer, slot, :, :length]

    def _allocate(self, slots: int) -> torch.Tensor:
        """Zeros (layers, slots, kv_heads, capacity, head_dim)."""
        shape = (self._layers, slots, self._kv_heads, self.capacity, self._head_dim)
        return allocate_zeros(shape, self.dtype, self.device)
