"""Attention with grouped queries: query head h reads key head h // group. Scale 1 / sqrt(head_dim)."""

import torch
from torch.nn import functional


def attend_last(queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """One row over all positions: (heads, head_dim) and twice (kv_heads, length, head_dim) to (1, heads * head_dim).

    The queries of a group are the rows of one product, so that each key is read once.
    """
    heads, width = queries.shape
    rows = queries.view(1, keys.shape[0], -1, width)  # (1, kv_heads, group, head_dim)
    attended = functional.scaled_dot_product_attention(rows, keys.unsqueeze(0), values.unsqueeze(0))
    return attended.reshape(1, heads * width)


def attend_masked(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, bias: torch.Tensor
) -> torch.Tensor:
    """One row of each sequence, some positions hidden: (S, heads, head_dim) to (S, heads * head_dim).

    Keys and values are (S, kv_heads, length, head_dim); the bias (S, 1, 1, length) is -inf for hidden positions.
    """
    sequences, heads, width = queries.shape
    rows = queries.view(sequences, keys.shape[1], -1, width)  # (S, kv_heads, group, head_dim)
    attended = functional.scaled_dot_product_attention(rows, keys, values, attn_mask=bias)
    return attended.reshape(sequences, heads * width)


def attend_all(queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """Every row over all positions: (rows, heads, head_dim) to (rows, heads * head_dim).

    Keys and values are (kv_heads, length, head_dim).
    """
    attended = functional.scaled_dot_product_attention(
        _grouped(queries, keys.shape[0]), keys.unsqueeze(0), values.unsqueeze(0)
    )
    return _ungrouped(attended, queries)


def attend_causal(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, first: int
) -> torch.Tensor:
    """Rows at positions first..first+rows-1, each over the positions up to its own; shapes as in `attend_all`.

    Kernels align causality with the first key, so that later rows need a mask.
    """
    rows, kv_heads = queries.shape[0], keys.shape[0]
    group = queries.shape[1] // kv_heads
    if first:
        visible = torch.ones(rows, keys.shape[1], dtype=torch.bool, device=queries.device).tril(first)
        attended = functional.scaled_dot_product_attention(
            _grouped(queries, kv_heads),
            keys.unsqueeze(0),
            values.unsqueeze(0),
            attn_mask=visible.repeat(group, 1),
        )
        return _ungrouped(attended, queries)
    members = queries.view(rows, kv_heads, group, -1).unbind(
        2
    )  # of each group one: (rows, kv_heads, head_dim)
    attended = torch.stack([_causal(member, keys, values) for member in members], dim=2)
    return attended.view(rows, -1)


def _causal(queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """As many queries as keys in every head: (rows, kv_heads, head_dim), the result too."""
    attended = functional.scaled_dot_product_attention(
        queries.transpose(0, 1).unsqueeze(0), keys.unsqueeze(0), values.unsqueeze(0), is_causal=True
    )
    return attended.squeeze(0).transpose(0, 1)


def _grouped(queries: torch.Tensor, kv_heads: int) -> torch.Tensor:
    """The queries of a group as more rows of its key head: (1, kv_heads, group * rows, head_dim).

    Few kernels know groups; those that do not would be passed over for one that keeps all scores in memory.
    """
    rows, heads, width = queries.shape
    members = queries.view(rows, kv_heads, heads // kv_heads, width).permute(1, 2, 0, 3)
    return members.reshape(1, kv_heads, -1, width)


def _ungrouped(attended: torch.Tensor, queries: torch.Tensor) -> torch.Tensor:
    """Back from `_grouped` to rows of all heads: (rows, heads * head_dim)."""
    rows, heads, width = queries.shape
    kv_heads = attended.shape[1]
    members = attended.reshape(kv_heads, heads // kv_heads, rows, width).permute(2, 0, 1, 3)
    return members.reshape(rows, heads * width)
