"""Many instances: executor, merge, cache, state."""
