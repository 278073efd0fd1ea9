"""The shapes that errors are answered in, by the route that was asked."""
