"""A remote service, used in place of this process's own."""
