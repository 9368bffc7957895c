"""Adds this server to the configuration of MCP clients, and removes it."""
