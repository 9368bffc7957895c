"""Answers with evidence: analyses the question, searches pages and their links, checks quotes."""
