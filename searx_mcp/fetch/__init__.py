"""One page: policy, hops, body, media type, Markdown."""
