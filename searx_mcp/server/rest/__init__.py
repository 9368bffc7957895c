"""REST on the same app and port as MCP, behind the same guard."""
