"""What the project does for its callers, declared once each: MCP, REST, CLI and thin client are made from it."""
