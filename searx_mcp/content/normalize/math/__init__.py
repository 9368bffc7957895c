"""Formulas as LaTeX, from whatever shows them."""
