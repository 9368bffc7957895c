"""Documented search APIs of open collections that want no key, asked directly: one table and its parsers."""
