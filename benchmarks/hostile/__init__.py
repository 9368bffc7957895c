"""What hostile pages, answers and connections cost the MCP server."""
