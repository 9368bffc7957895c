"""What the benchmark of the Markdown itself is made of."""
