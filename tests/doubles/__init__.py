"""Doubles that the tests and the benchmarks use: faults that no real part has on demand, and virtual time."""
