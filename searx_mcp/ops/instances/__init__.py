"""Show and change the pool, and keep what was learned."""
