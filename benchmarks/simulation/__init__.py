"""A simulated pool of instances in virtual time; `benchmarks.pool_simulation` runs it."""
