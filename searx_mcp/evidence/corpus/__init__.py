"""The corpus: pages that were read, in parts that questions find."""
