"""What of a page is its content."""
