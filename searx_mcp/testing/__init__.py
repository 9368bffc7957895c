"""Public doubles: a clock, SearXNG instances and a small web on loopback."""
