"""Indexes that sites publish of their own pages: which there are, and what each says."""
