"""Providers that answer a search: the pool of instances, keyed providers, the open sources."""
