"""Sites that are read from better sources than their pages: raw files and documented APIs."""
