"""Answers with evidence: a question taken apart, pages and their links searched, quotes checked."""
