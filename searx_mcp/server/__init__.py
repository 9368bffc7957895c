"""The MCP front."""
