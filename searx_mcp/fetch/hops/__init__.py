"""The hops of a fetch: which host may be asked, when, and what it answered."""
