"""Work that outlives a caller."""
