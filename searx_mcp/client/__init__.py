"""The facade over all areas, and their composition."""
