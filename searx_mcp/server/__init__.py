"""The server: MCP over stdio and HTTP, REST, and the dashboard."""
