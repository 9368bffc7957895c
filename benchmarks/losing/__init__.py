"""What of a page is not in its Markdown."""
