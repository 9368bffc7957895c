"""Analyses a question, and chooses the open collections for it."""
