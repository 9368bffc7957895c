"""Blocks of code: where they are, their language, and their text."""
