"""Answers that are kept, shared and served again."""
