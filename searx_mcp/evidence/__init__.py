"""Evidence: cited passages of pages that were read.

What enters: a question with the addresses of pages, or a report to verify, as a value of `requests`.
What leaves: passages, verdicts, and quotes compared with their page, as values of `values`; `render` writes them.
What it may touch: pages through `fetch`, searches through `search`, and its own database through `storage`;
an embedding or rerank server, if the settings name one.

Nothing below imports this package, and whatever searches and fetches works without it.
"""
