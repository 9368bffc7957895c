"""Sentences of a page that stand for it: what they are, how they are weighed, which are taken."""
