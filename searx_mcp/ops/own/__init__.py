"""An own instance: SearXNG as a process of this machine."""
