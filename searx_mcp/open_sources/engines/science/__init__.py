"""Publications."""
