"""What tiers have in common: reading answers of services, and writing Markdown of them."""
