"""Evidence as text for a model, and as data."""
