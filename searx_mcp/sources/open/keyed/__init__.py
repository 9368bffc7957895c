"""Keyed providers: search APIs of companies, asked only with a key of the user's own. One module each."""
