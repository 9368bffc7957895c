"""What callers send, turned into requests: one place for every front.

Callers are models and people, so spellings are forgiven and meanings are not:

- Names: any of `results_count`, `resultsCount`, `results-count`; also `max_results`, `num_results`,
  `count` and `limit` for `results_count`, `recency` for `time_range`, `engine` for `engines`.
- `null`, and an empty text but for `time_range`, count as not given.
- Numbers and booleans may be text; a list may be one value, a comma list or JSON in a text.
- `safe_search` takes 0 to 2 and their names; `true` is 1, as it is as a number, and `false` is 0.
- A category is any that SearXNG or the settings know, in any spelling of its blanks.
- A domain is taken out of an address; `www.` stays, since `gov.uk` is more than `www.gov.uk`.
- An address that starts with a host, such as `example.org/page`, gets `https://`.

Whatever else is wrong raises `InvalidArgumentError` with the name as the caller wrote it. A message
shows at most 60 characters of a value, and nothing of a query.
"""
