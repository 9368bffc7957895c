"""The operations of the service, declared once each: the MCP server, REST, CLI and thin client are derived from them."""
