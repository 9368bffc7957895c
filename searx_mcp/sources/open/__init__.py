"""Documented search APIs of open collections that need no key, and two that need one.

In: a query with its category, language and time range. Out: rows with their source, or a verdict. It requests
    only the addresses named in the table, through `sources.attempt_runner` and within its budgets. `table`
    lists the sources, `engines` has a module for each, `keyed` those with a key, `route` chooses the
    sources for a query. In the core, only `search.providers` imports it.
"""
