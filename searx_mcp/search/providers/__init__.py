"""Who can answer a search: the pool of instances, the open sources, and one after the other."""
