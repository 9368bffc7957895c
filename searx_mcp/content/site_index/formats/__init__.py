"""The index formats of site generators, one per file; pure functions of the file's content."""
