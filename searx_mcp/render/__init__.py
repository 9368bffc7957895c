"""Models to text within a token budget."""
