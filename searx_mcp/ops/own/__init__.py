"""An instance of one's own: SearXNG in a container of this machine, or as a process of it."""
