"""Measurements against a peer or a bare baseline; `docs/benchmarks.md` holds results and commands."""
