"""What the benchmarks of the corpus are made of: sets, pages as they are kept, and scores."""
