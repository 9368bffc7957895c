"""What each service makes of a request: how it matches, how it pages, and how it writes it down."""
