"""The corpus on disk: one set of statements, a driver for SQLite and one for PostgreSQL."""
