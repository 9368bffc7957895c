"""Renders models as text, within a token budget."""
