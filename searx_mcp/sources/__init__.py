"""What a search can ask: SearXNG instances, and collections with open APIs."""
