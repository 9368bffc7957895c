"""Writes elements of a page as Markdown."""
