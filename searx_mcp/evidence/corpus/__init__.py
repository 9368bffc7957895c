"""The corpus: stored pages in chunks, searched by question."""
