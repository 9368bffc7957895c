"""Bodies that are not HTML pages: feeds and JSON."""
