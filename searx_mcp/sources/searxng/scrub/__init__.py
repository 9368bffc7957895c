"""Captured answers without what they say: fixtures for bug reports.

What a parser looks at stays: tags, classes, keys, kinds and lengths of values, names of engines and
categories, the instance's version. What was searched for, what was found and where does not: every
other word becomes `word`, every digit `1`, every address a numbered one.
"""
