"""What serving a model costs: the loopback world, token counts, peers, and a table of requests."""
