"""The guard's own proof: addresses that must be refused, run through the real client."""
