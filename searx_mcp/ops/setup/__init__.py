"""Setting up MCP clients: this server in their configuration, and out of it again."""
