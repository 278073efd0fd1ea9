"""What agents may do over MCP: tools, guides and links, decided without the protocol, which `protocol` alone knows."""
