"""Background work: refreshing the list of instances, health checks, synchronising state."""
