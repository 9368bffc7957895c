"""An HTML page: guarded, parsed, without hidden parts; its main content and its metadata."""
