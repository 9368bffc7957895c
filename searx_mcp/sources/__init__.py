"""Sources of a search: SearXNG instances, and collections with open APIs."""
