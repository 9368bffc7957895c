"""A remote service as the service of this process."""
