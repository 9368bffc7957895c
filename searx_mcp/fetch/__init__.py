"""Fetching one page: policy, redirects, body, media type, Markdown."""
