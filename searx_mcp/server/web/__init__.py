"""Who may use the server over HTTP, what a request may be, and how many there may be."""
