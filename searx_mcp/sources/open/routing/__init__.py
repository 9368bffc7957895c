"""Which open collections a question is for: reading it, and choosing among the engines."""
