"""Measurements against a peer or a bare baseline; `docs/explanation/benchmarks.md` holds results and commands."""
