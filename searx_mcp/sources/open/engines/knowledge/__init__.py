"""Encyclopaedia, questions and answers, news and places."""
