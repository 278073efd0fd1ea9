"""What the YuE2 engine makes of a machine, on random checkpoints of any size in the real layout."""
