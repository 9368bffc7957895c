"""Measurements against a peer or a bare baseline; `docs/decisions/benchmarks.md` holds results and commands."""
