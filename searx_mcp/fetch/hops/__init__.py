"""Each hop of a fetch: who may be asked, when, and what came of it."""
