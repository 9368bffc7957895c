"""One query through the pool: who is asked, when, and at whose expense."""
