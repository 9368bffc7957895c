"""Converts the many ways in which pages write code, mathematics, callouts and notes to one form."""
