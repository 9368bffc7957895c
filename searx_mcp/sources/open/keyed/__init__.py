"""Keyed providers: search APIs of companies, used only with the user's key. One module each."""
