"""GitHub, from its raw files and its REST API."""
