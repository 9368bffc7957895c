"""What may be fetched: domains, provenance, robots.txt."""
