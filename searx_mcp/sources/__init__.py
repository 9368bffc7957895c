"""Whom a search can ask: instances of SearXNG, and collections with open interfaces."""
