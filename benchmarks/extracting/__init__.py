"""Annotated pages, how they are scored, and who reads them."""
