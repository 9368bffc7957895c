"""Elements of a page as Markdown."""
