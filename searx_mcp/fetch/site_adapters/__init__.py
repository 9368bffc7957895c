"""Sources of a page that read better than the page itself."""
