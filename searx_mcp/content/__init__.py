"""Converts page bytes to text, Markdown and summaries; pure functions."""
