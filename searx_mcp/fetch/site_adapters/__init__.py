"""Sites whose pages are read from better sources: raw files and documented APIs."""
