"""What `/openapi.json` answers."""

from server.openapi.document import build_openapi

__all__ = ["build_openapi"]
