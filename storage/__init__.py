"""Finished results on a volume: staged, published, leased, expired."""
