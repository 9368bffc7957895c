"""What serving a model costs: the loopback world, token counts, and what other servers cost."""
