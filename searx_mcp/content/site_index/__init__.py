"""Indexes that sites publish of their own pages: how they are found and read."""
