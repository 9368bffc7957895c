"""What CSS hides from the readers of a page."""
