"""Evidence: cited passages of pages that were read.

Input: a question with the addresses of pages, or a report to verify, as a value of `requests`.
Output: passages, verdicts, and quotes compared with their page, as values of `values`; `render` formats them.
Dependencies: pages through `fetch`, searches through `search`, and its own database through `storage`;
an embedding or rerank server, if the settings name one.

Nothing below imports this package, and searching and fetching work without it.
"""
