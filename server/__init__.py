"""Composition and HTTP: the admission gate, the serial queue, the routes."""
