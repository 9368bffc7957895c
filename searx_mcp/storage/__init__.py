"""Databases: the only package that uses SQLite, Redis and PostgreSQL for state and pages."""
