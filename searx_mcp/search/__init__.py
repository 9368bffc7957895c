"""Searching: providers, merging, caching, judging of pages, background work."""
