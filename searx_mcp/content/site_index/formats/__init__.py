"""The index formats of site generators: pure functions of the file's content."""
