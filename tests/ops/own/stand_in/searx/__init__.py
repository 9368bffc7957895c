"""Stands in for SearXNG: its files in miniature, for archives that are installed and run."""
