"""What the YuE2 engine makes of a machine, on random checkpoints of any size in the real layout.

`python -m bench.engine` measures at the size of the bars for processors, `--full` at the real one; `--device cuda` on a
card, `--check` only what has a bar. Product, floor and a naive loop take turns in one process; a song is sung in a
process of its own. It leaves with 1 where a bar was missed; other sizes than these two have none.
"""
