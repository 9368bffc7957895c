"""What a fake SearXNG instance says: queries read, pages and documents written."""
