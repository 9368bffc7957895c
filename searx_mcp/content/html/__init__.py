"""A page of HTML: guarded, parsed, rid of what is hidden, its main content and what it says of itself."""
