"""Fetching pages: what a bomb costs, and how many pages come through at once."""
