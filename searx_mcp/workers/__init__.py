"""Code that reads strangers' bytes, run where it can hang, crash or eat memory without harm."""
