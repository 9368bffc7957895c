"""What is renewed behind the searches: the list, the health of the pool, its memory."""
