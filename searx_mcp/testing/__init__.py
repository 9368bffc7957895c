"""Public test doubles: a clock, SearXNG instances and a small website on loopback."""
