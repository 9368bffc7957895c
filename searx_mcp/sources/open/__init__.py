"""Documented search APIs of open collections that want no key, and two that want one.

What enters: a query with its category, language and time range. What leaves: rows with their source, or a verdict.
What it may touch: the addresses that the table names, through `sources.attempt_runner` and within its budgets.
`table` lists the sources, `engines` has a file for each, `keyed` those with a key, `routing` says which of them a
query is for. Of the core, only `search.providers` knows them.
"""
