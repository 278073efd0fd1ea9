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
    """Every row over all positions: (rows, heads, head_dim), twice (kv_heads, length, head_dim), to (rows, heads * head_dim)."""
    attended = functional.scaled_dot_product_attention(
        queries.transpose(0, 1).unsqueeze(0), keys.unsqueeze(0), values.unsqueeze(0), enable_gqa=True
    )  # (1, heads, rows, head_dim)
    return attended.squeeze(0).transpose(0, 1).reshape(queries.shape[0], -1)


def attend_causal(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, first: int
) -> torch.Tensor:
    """Rows at positions first..first+rows-1, each over the positions up to its own.

    Queries are (rows, heads, head_dim), keys and values (kv_heads, first + rows, head_dim); to (rows, heads * head_dim).
    """
    if first:
        return _attend_causal_later(queries, keys, values, first)
    attended = functional.scaled_dot_product_attention(
        queries.transpose(0, 1).unsqueeze(0),
        keys.unsqueeze(0),
        values.unsqueeze(0),
        is_causal=True,
        enable_gqa=True,
    )  # (1, heads, rows, head_dim)
    return attended.squeeze(0).transpose(0, 1).reshape(queries.shape[0], -1)


def _attend_causal_later(
    queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, first: int
) -> torch.Tensor:
    # Kernels without a mask align causality with the first key. With a mask few kernels know groups, so that
    # those of a key head become more rows of it.
    rows, heads, width = queries.shape
    kv_heads, length = keys.shape[0], keys.shape[1]
    group = heads // kv_heads
    grouped = queries.view(rows, kv_heads, group, width).permute(
        1, 2, 0, 3
    )  # (kv_heads, group, rows, head_dim)
    visible = torch.ones(rows, length, dtype=torch.bool, device=queries.device).tril(first)
    attended = functional.scaled_dot_product_attention(
        grouped.reshape(1, kv_heads, group * rows, width),
        keys.unsqueeze(0),
        values.unsqueeze(0),
        attn_mask=visible.repeat(group, 1),
    )  # (1, kv_heads, group * rows, head_dim)
    return attended.view(kv_heads, group, rows, width).permute(2, 0, 1, 3).reshape(rows, heads * width)
