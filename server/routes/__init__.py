"""HTTP routes, one module a family of clients."""
