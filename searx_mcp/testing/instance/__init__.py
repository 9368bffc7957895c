"""The content of a fake SearXNG instance: parses queries, builds pages and documents."""
