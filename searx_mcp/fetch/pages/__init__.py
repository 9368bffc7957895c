"""Pages that were captured, kept for a time."""
