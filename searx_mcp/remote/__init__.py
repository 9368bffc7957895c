"""A service elsewhere as the service of this process."""
