"""Runs code that reads untrusted bytes where it can hang, crash or exhaust memory without harm."""
