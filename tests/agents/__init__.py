"""What the server's MCP does, seen by official clients and by bare HTTP alone."""
