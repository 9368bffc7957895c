"""An instance of one's own: SearXNG as a process of this machine."""
